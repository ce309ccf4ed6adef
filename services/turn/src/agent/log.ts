/** Writes one JSON line. */
export function log(message: string, facts: object = {}): void {
  process.stdout.write(
    `${JSON.stringify({ level: 'info', time: new Date().toISOString(), message, ...facts })}\n`,
  );
}
