/**
 * Reads room ids from stdin, one per line, and prints the marks that replace them in the pods' logs. The id is not an argument, as audit logs and
 * shell histories keep arguments.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseRoomId } from '@parley/protocol/ids';
import { roomMarks } from './server/log.ts';

const mark = roomMarks(JSON.parse(readFileSync(process.env['PARLEY_KEYS_FILE'] ?? '', 'utf8')));
for await (const line of createInterface({ input: process.stdin })) {
  const room = parseRoomId(line.trim())?.room;
  const said = room === undefined ? `not a room id: a line of ${line.length} characters` : mark(room);
  process.stdout.write(`${said}\n`);
}
