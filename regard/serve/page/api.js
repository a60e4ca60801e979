// The server, asked over HTTP.

const TRIES = 4;
const TOKEN = "regard-token";

/** Something that went wrong, in words for the reader. */
export class Fault extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

export function keepToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

/** What is served. */
export async function models() {
  const response = await reached("v1/models", {});
  return (await response.json()).models;
}

/**
 * Ask, and hear of every step.
 * @param {Object} ask the fields of a request; `image` is a Blob
 * @param {{signal: AbortSignal, partial: (begun: any) => void, waiting: (seconds: number) => void}} how
 */
export async function run(ask, { signal, partial, waiting }) {
  const request = { method: "POST", signal, ...body({ ...ask, trace: true, stream: true }) };
  for (let tried = 1; ; tried++) {
    try {
      const response = await reached("v1/run", request);
      return await heard(response, partial);
    } catch (fault) {
      if (fault.code !== "busy" || tried === TRIES) throw fault;
      waiting(fault.after);
      await pause(fault.after, signal);
    }
  }
}

function body(ask) {
  if (!(ask.image instanceof Blob)) {
    return { headers: { "Content-Type": "application/json" }, body: JSON.stringify(ask) };
  }
  const form = new FormData();
  const { sample, image, ...rest } = ask;
  for (const [name, value] of Object.entries({ ...rest, ...sample })) {
    if (value === undefined) continue;
    form.append(name, Array.isArray(value) ? JSON.stringify(value) : String(value));
  }
  form.append("image", image, "photo");
  return { body: form };
}

async function reached(path, request) {
  const headers = { ...request.headers };
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(path, { ...request, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Fault("gone", "The server does not answer. Is it still running?");
  }
  if (response.ok) return response;
  throw await refused(response);
}

async function refused(response) {
  const told = await response.json().catch(() => ({}));
  const { code = String(response.status), message = response.statusText } = told.error ?? {};
  if (response.status === 401) return new Fault("token", message);
  if (response.status !== 503) return new Fault(code, message);
  const fault = new Fault("busy", "The server has too much to do. Try again in a moment.");
  fault.after = Math.min(Math.max(Number(response.headers.get("Retry-After")) || 1, 1), 15);
  return fault;
}

/** Read server-sent events up to the answer. */
async function heard(response, partial) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const parts = (rest + value).split(/\r?\n\r?\n/);
      rest = parts.pop();
      for (const part of parts) {
        const { event, data } = parsed(part);
        if (event === "partial") partial(data);
        else if (event === "answer") return data;
        else if (event === "error") throw new Fault(data.error.code, data.error.message);
      }
    }
  } catch (error) {
    if (error instanceof Fault || error.name === "AbortError") throw error;
    throw new Fault("gone", "The server went away in the middle of its answer. Is it still running?");
  } finally {
    reader.cancel().catch(() => {});
  }
  throw new Fault("gone", "The server went away in the middle of its answer. Is it still running?");
}

function parsed(part) {
  const fields = { event: "", data: [] };
  for (const line of part.split(/\r?\n/)) {
    if (line.startsWith("event:")) fields.event = line.slice(6).trim();
    if (line.startsWith("data:")) fields.data.push(line.slice(5));
  }
  const data = fields.data.join("\n");
  return { event: fields.event, data: data && JSON.parse(data) };
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("not wanted any more", "AbortError"));
    });
  });
}
