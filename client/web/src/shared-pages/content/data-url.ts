/** The bytes of a `data:` URL; `null` if it is invalid. */
export function dataBytes(url: string): Uint8Array<ArrayBuffer> | null {
  const { base64, body } = /^\s*data:[^,]*?(?<base64>;\s*base64\s*)?,(?<body>[^]*)$/i.exec(url)?.groups ?? {};
  if (body === undefined) return null;
  try {
    if (base64 === undefined) return percentDecoded(body);
    return Uint8Array.from(atob(decodeURIComponent(body)), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

function percentDecoded(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const code =
      bytes[at] === PERCENT ? Number.parseInt(ascii(bytes.subarray(at + 1, at + 3)), 16) : Number.NaN;
    bytes[length++] = Number.isNaN(code) ? (bytes[at] ?? 0) : code;
    if (!Number.isNaN(code)) at += 2;
  }
  return bytes.slice(0, length);
}

const PERCENT = 0x25;
const ascii = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

/** For SVG: a `blob:` URL of one, opened in its own tab, would be a document of our origin. */
export function dataUrl(type: string, bytes: Uint8Array<ArrayBuffer>): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `data:${type};base64,${btoa(text)}`;
}
