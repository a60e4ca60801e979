// Photos that are chosen, dropped or pasted.

import { Fault } from "./api.js";

const SIDE = 1600;
const UNREADABLE =
  "This file is no picture that your browser can open. JPEG, PNG and WebP always work.";

/**
 * Hear of every photo.
 * @param {{drop: HTMLElement, file: HTMLInputElement, wanted: () => boolean,
 *   chosen: (file: Blob) => void}} how
 */
export function listenForPhotos({ drop, file, wanted, chosen }) {
  const take = (files) => {
    const found = [...(files ?? [])].find((one) => one.type.startsWith("image/")) ?? files?.[0];
    if (found && wanted()) chosen(found);
    return Boolean(found);
  };
  file.addEventListener("change", () => take(file.files));
  document.addEventListener("paste", (event) => take(event.clipboardData?.files) && event.preventDefault());
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      if (!wanted()) return;
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop") take(event.dataTransfer?.files);
    });
  }
}

/** A photo that the server will take: one that is too large is made smaller here. */
export async function readied(file, limits) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Fault("picture", UNREADABLE);
  }
  const { width, height } = bitmap;
  // A form has a few hundred bytes around the picture.
  if (file.size + 4096 <= limits.bytes && width * height <= limits.pixels) {
    bitmap.close();
    return { blob: file, url: URL.createObjectURL(file), smaller: false };
  }
  const shrink = Math.min(1, SIDE / Math.max(width, height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height].map((side) => Math.max(1, Math.round(side * shrink)));
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.9));
  return { blob, url: URL.createObjectURL(blob), smaller: true };
}
