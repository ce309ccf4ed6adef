/** A complete stack for the attackers, and what they know about it. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack, type Stack } from '@parley/local/stack';
import { adHocRoomId } from '@parley/protocol/ids';
import { NETS, addresses } from './sources.ts';

export interface Arena {
  readonly stack: Stack;
  /** Where the stack keeps its state: secrets for what an insider would have, logs. */
  readonly dir: string;
  /** The edge, over HTTP. */
  readonly edge: string;
  readonly isLong: boolean;
  /** A network that is unused in this run. */
  address(): string;
  /** An ad-hoc room of its own. */
  room(): string;
  /** All rooms that were handed out: no log may hold one. */
  readonly rooms: readonly string[];
}

/** Resumes and reads that one network has in a minute here: fewer than usual, so that trying it takes seconds. */
export const NETWORK_REQUESTS = 300;

/** As a region is installed: stream topics need tokens. Grace is short, so that what happens after it is tried too. */
const SETTINGS = {
  PARLEY_RELAY_ACCESS: 'token',
  PARLEY_LIMIT_RESUME_GRACE: '3000',
  PARLEY_LIMIT_ADDRESS_RESUMES: String(NETWORK_REQUESTS),
  PARLEY_LIMIT_ADDRESS_READS: String(NETWORK_REQUESTS),
  PARLEY_POD_NODE_OPTIONS: '--max-old-space-size=384',
};

export async function withArena<Result>(
  isLong: boolean,
  work: (arena: Arena) => Promise<Result>,
): Promise<Result> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-hostile-'));
  try {
    const stack = await startStack({
      dir,
      env: { ...SETTINGS, PARLEY_RELAY_KEYS: join(dir, 'secrets/keys-public.json') },
    });
    const rooms: string[] = [];
    try {
      return await work({
        stack,
        dir,
        edge: `http://${new URL(stack.endpoints.streams).host}`,
        isLong,
        address: addresses(NETS.attacks),
        room: () => {
          const room = adHocRoomId(randomBytes(16));
          rooms.push(room);
          return room;
        },
        rooms,
      });
    } finally {
      await stack.stop();
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
