/** The limits of TURN and of media relays, a part of the table in `limits.ts`. */
export const MEDIA_LIMITS = {
  'turn.ttl': {
    value: 600_000,
    min: 2000,
    max: 86_400_000,
    unit: 'ms',
    code: null,
    rationale:
      'a participant who was removed makes no allocations after it; the socket sends fresh credentials before',
  },
  'turn.networkAllocations': {
    value: 480,
    min: 8,
    max: 60_000,
    unit: 'allocations',
    code: null,
    rationale:
      'of one network on a TURN node: 50 participants in calls of four have 150 ends of connections with three each; seven such networks fill the default ports; coturn answers 486',
  },
  'socket.iceRequests': {
    value: 12,
    min: 1,
    max: 100_000,
    unit: 'requests per minute',
    code: 'TOO_MANY_ICE_REQUESTS',
    rationale: 'a client asks when a path breaks, at most every 5 s, and before its credentials end',
  },
  'address.iceRequests': {
    value: 600,
    min: 1,
    max: 10_000_000,
    unit: 'requests per minute',
    code: 'TOO_MANY_ICE_REQUESTS',
    rationale: 'of one network: an office whose TURN node ends, in which every client asks at once',
  },
  'turn.leaseDuration': {
    value: 6000,
    min: 1000,
    max: 60_000,
    unit: 'ms',
    code: null,
    rationale:
      'a TURN node renews its lease every 2 s: two renewals may be lost before no client is sent to it',
  },
  'turn.nodes': {
    value: 256,
    min: 1,
    max: 10_000,
    unit: 'nodes',
    code: null,
    rationale: 'an installation has tens; more are an attack with invented names, and are ignored',
  },
  'turn.offered': {
    value: 2,
    min: 1,
    max: 8,
    unit: 'nodes',
    code: null,
    rationale:
      'one may end in the middle of a call; each further node costs every client an allocation for every connection and transport',
  },
  'media.leaseDuration': {
    value: 6000,
    min: 1000,
    max: 60_000,
    unit: 'ms',
    code: null,
    rationale: 'a relay renews its lease every 2 s: two renewals may be lost before no client is sent to it',
  },
  'media.relays': {
    value: 256,
    min: 1,
    max: 10_000,
    unit: 'relays',
    code: null,
    rationale: 'a region has tens; more are an attack with invented names, and are ignored',
  },
  'media.participantsPerRelay': {
    value: 50,
    min: 1,
    max: 10_000,
    unit: 'participants',
    code: null,
    rationale:
      'of one room; each time as many more use one more relay, and their media crosses between the relays once',
  },
  'media.tokenMaxAge': {
    value: 300_000,
    min: 10_000,
    max: 3_600_000,
    unit: 'ms',
    code: null,
    rationale:
      'a participant that left a room keeps a token: it opens no session after this time, and the socket issues fresh ones',
  },
  'media.session': {
    value: 43_200_000,
    min: 60_000,
    max: 604_800_000,
    unit: 'ms',
    code: null,
    rationale: 'a session on a relay outlives a working day; then a fresh token opens the next one',
  },
} as const;
