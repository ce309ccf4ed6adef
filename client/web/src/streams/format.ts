/** Formats figures for display. */

const UNITS = ['', 'k', 'M', 'G', 'T'] as const;

/** Three digits and a unit: `1.12 Mbit/s`. */
export const formatBitRate = (bits: number): string => scaled(bits, 'bit/s');
export const formatDecimalSize = (bytes: number): string => scaled(bytes, 'B');

function scaled(value: number, unit: string): string {
  const power = Math.max(0, Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  const number = value / 1000 ** power;
  const digits = power === 0 || number >= 100 ? 0 : number >= 10 ? 1 : 2;
  return `${number.toFixed(digits)} ${UNITS[power]}${unit}`;
}

export const formatRate = (rate: number): string =>
  `${rate >= 100 ? formatCount(Math.round(rate)) : rate.toFixed(rate >= 10 || rate === 0 ? 0 : 1)} /s`;

export const formatCount = (count: number): string => count.toLocaleString('en').replaceAll(',', '\u202f');

/** `0:07`, `12:40`, `3:04:09`. */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** The time of day in milliseconds, for comparison with a log. */
export function formatTime(at: number): string {
  const date = new Date(at);
  const part = (value: number, digits: number): string => String(value).padStart(digits, '0');
  return `${part(date.getHours(), 2)}:${part(date.getMinutes(), 2)}:${part(date.getSeconds(), 2)}.${part(date.getMilliseconds(), 3)}`;
}
