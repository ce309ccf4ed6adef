/**
 * A pod's log, which contains no room ids: the id of an ad-hoc room suffices to enter it. A line names a room by a keyed hash, which is the same on
 * every pod with the same secrets in its key set. SPEC rule LOG-1.
 */
import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { pino, type DestinationStream, type Logger } from 'pino';
import { decode } from '@parley/protocol/decode';
import { AD_HOC_ROOM_PATTERN, NAMED_ROOM_PATTERN } from '@parley/protocol/ids';
import { KeySet, sharedSecrets } from '../adapters/key-set.ts';
import { Bucket } from '../core/buckets.ts';
import type { Config } from './config.ts';

export function createLog(
  config: Pick<Config, 'keySet' | 'logLevel' | 'pod' | 'region'>,
  destination?: DestinationStream,
  { mark = roomMarks(config.keySet) } = {},
): Logger {
  const options = {
    level: config.logLevel,
    base: { pod: config.pod, region: config.region },
    // Every line passes here, whichever field or error text contains an id.
    hooks: { streamWrite: (line: string) => withoutRoomIds(line, mark) },
  };
  return pino(options, destination ?? pino.destination(STANDARD_OUTPUT));
}

/**
 * Lines are buffered, as a write for each costs a twentieth of a join. The buffer is written when the process ends, unless it is killed. A reader
 * that has stopped costs lines, not memory.
 */
const STANDARD_OUTPUT = { dest: 1, sync: false, minLength: 4096, periodicFlush: 100, maxLength: 1 << 20 };

/** Warnings that share a rate, with a burst of the same size: the first that is written again contains how many were suppressed. SPEC rule LIM-18. */
export function warnings(
  log: Logger,
  perMinute: number,
  now: () => number = () => performance.now(),
): (fields: object, message: string) => void {
  const budget = new Bucket(perMinute / 60, perMinute, now());
  let suppressed = 0;
  return (fields, message) => {
    if (!budget.take(1, now())) {
      suppressed += 1;
      return;
    }
    log.warn(suppressed > 0 ? { ...fields, suppressed } : fields, message);
    suppressed = 0;
  };
}

/** A line is JSON and contains URLs: an escape ends in a letter or digit that is not part of the text after it. */
function withoutRoomIds(line: string, mark: (room: string) => string): string {
  const pieces = line.replaceAll(PERCENT, unreserved).split(ESCAPE);
  // Every second piece is an escape.
  return pieces
    .map((piece, at) => (at % 2 === 0 ? piece.replace(ROOM_ID, (id) => mark(id.toLowerCase())) : piece))
    .join('');
}

/** RFC 3986, section 6.2.2.2: a character that a URL need not encode means the same decoded. Ids also contain `@`. */
function unreserved(encoded: string): string {
  const decoded = String.fromCodePoint(Number.parseInt(encoded.slice(1), 16));
  return /[a-z0-9@-]/i.test(decoded) ? decoded : encoded;
}

/**
 * The mark that replaces a room id in the log. A key set that cannot sign gives marks that match those of no other process; a pod does not start with
 * it.
 */
export function roomMarks(keySet: unknown): (room: string) => string {
  const decoded = decode(KeySet, keySet);
  const [secret = randomBytes(32)] = decoded.ok ? sharedSecrets(decoded.message) : [];
  // A KeyObject, as key bytes are imported again at each use, which costs six times the hash.
  const key = createSecretKey(createHmac('sha256', secret).update(PURPOSE).digest());
  return (room) => `r_${createHmac('sha256', key).update(room).digest('base64url').slice(0, MARK_CHARS)}`;
}

/** The marks of the key set that is in use. SPEC rule KEY-8. */
export function replaceableMarks(keySet: unknown): {
  mark(room: string): string;
  useKeys(keySet: unknown): void;
} {
  let mark = roomMarks(keySet);
  return {
    mark: (room) => mark(room),
    useKeys(next) {
      mark = roomMarks(next);
    },
  };
}

/** Keeps the key apart from every other use of the secret. */
const PURPOSE = 'parley: rooms in logs';
/** 72 bits, so that no two rooms of an installation have the same mark. */
const MARK_CHARS = 12;
/** Matches no part of a request id, which is a UUID. */
const ROOM_ID = new RegExp(`(?<![a-z0-9])(?:${AD_HOC_ROOM_PATTERN}|${NAMED_ROOM_PATTERN})(?![a-z0-9])`, 'gi');
const PERCENT = /%[\da-f]{2}/gi;
/** Escapes of JSON, also in a string that was serialised twice, and of URLs. */
const ESCAPE = /(\\+(?:u[\da-f]{4}|[bfnrt"/])?|%[\da-f]{2})/i;
