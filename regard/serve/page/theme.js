// Before anything is drawn: the theme that was chosen here last, or else the reader's own.
{
  const chosen = localStorage.getItem("regard-theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
}
