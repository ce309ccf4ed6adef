/** Valid messages of a pod, with the fields that a test sets. */
import type { Member, Presence } from '@parley/protocol/people';
import type { Welcome } from '@parley/protocol/server-messages';

/** A participant id that ends in `symbol`. */
export const participant = (symbol: string): string => `p${symbol.padStart(16, '0')}`;
export const ME = participant('m');
export const ROOM = 'aaaa-bbbb-cccc-dddd';

export function member(id: string, name: string, state: Presence = 'here'): Member {
  return { participant: id, name, state, media: { audio: true, video: true, screen: false } };
}

export function welcome(change: Partial<Welcome> = {}): Welcome {
  return {
    type: 'welcome',
    participant: ME,
    room: { room: ROOM, kind: 'ad-hoc', homeRegion: null, cap: 100, locked: false },
    pod: 'pod-a',
    roster: [],
    resume: 'resume-token',
    graceMs: 30_000,
    iceServers: [{ urls: ['stun:192.0.2.1'] }],
    iceTtlS: 0,
    recovering: false,
    chat: [],
    limits: { messageBytes: 65_536, nameChars: 64, chatChars: 2000, meshParticipants: 4 },
    ...change,
  };
}
