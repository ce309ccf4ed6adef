/** The limits of rooms, a part of the table in `limits.ts`. */
export const ROOM_LIMITS = {
  'room.bans': {
    value: 200,
    min: 1,
    max: 500,
    unit: 'bans',
    code: 'TOO_MANY_BANS',
    rationale: 'they are read with the room at every join, and sent between pods in one message',
  },
  'room.kicked': {
    value: 200,
    min: 1,
    max: 1000,
    unit: 'participants',
    code: null,
    rationale:
      'over it the earliest is dropped: its resume token is then treated as that of a participant that left, and its device enters as any other',
  },
  'kick.keep': {
    value: 86_400_000,
    min: 60_000,
    max: 604_800_000,
    unit: 'ms',
    code: null,
    rationale:
      'for so long a device whose participant was kicked has to ask an owner, and no longer than the call: few last for a day',
  },
  'room.muted': {
    value: 200,
    min: 1,
    max: 1000,
    unit: 'participants',
    code: 'TOO_MANY_MUTED',
    rationale:
      'muted one by one, or excepted where everyone is muted; sent to all participants at each change. Those who left do not count',
  },
  'room.coOwners': {
    value: 20,
    min: 1,
    max: 100,
    unit: 'participants',
    code: 'TOO_MANY_CO_OWNERS',
    rationale: 'sent to all participants at each change. Those who left do not count',
  },
  'room.lobby': {
    value: 50,
    min: 1,
    max: 1000,
    unit: 'people waiting',
    code: 'LOBBY_FULL',
    rationale: 'the owner sees each of them; counted against the local roster',
  },
  'address.lobby': {
    value: 10,
    min: 1,
    max: 1000,
    unit: 'people waiting',
    code: 'LOBBY_FULL',
    rationale:
      'of one room and one network: a fifth of its lobby; a class behind one address is admitted in turns',
  },
  'lobby.timeout': {
    value: 900_000,
    min: 1000,
    max: 86_400_000,
    unit: 'ms',
    code: 'LOBBY_TIMEOUT',
    rationale: 'a quarter of an hour without an answer from the owner',
  },
  'room.participants': {
    value: 100,
    min: 1,
    max: 1000,
    unit: 'participants',
    code: 'ROOM_FULL',
    rationale:
      'soft unless the room was made with a cap: counted against the local roster; a section of 1,000 participants is half of the largest message of NATS',
  },
  'seat.rest': {
    value: 5000,
    min: 0,
    max: 60_000,
    unit: 'ms',
    code: 'ROOM_FULL',
    rationale:
      'where there are other regions: until a cut has been detected, beyond which a participant that left could still resume',
  },
  'home.timeout': {
    value: 2000,
    min: 100,
    max: 30_000,
    unit: 'ms',
    code: 'ROOM_HOME_UNREACHABLE',
    rationale:
      'the deadline of a request to the home region of a room: several times the way around the world',
  },
  'home.requests': {
    value: 64,
    min: 1,
    max: 10_000,
    unit: 'requests under way',
    code: 'POD_FULL',
    rationale:
      'of one other region, by the name in the request, on each pod: a flood from one region leaves room for the others',
  },
  'home.cacheTtl': {
    value: 60_000,
    min: 0,
    max: 600_000,
    unit: 'ms',
    code: null,
    rationale:
      'a join may be answered from what a pod read about a room of another region; entering always asks the home region',
  },
  'home.cachedRooms': {
    value: 2000,
    min: 1,
    max: 100_000,
    unit: 'rooms',
    code: null,
    rationale: 'of other regions, on each pod; over it the one that was read earliest is dropped',
  },
  'home.unfollowed': {
    value: 10_000,
    min: 1,
    max: 1_000_000,
    unit: 'records',
    code: null,
    rationale:
      'that a pod keeps for one follower which does not answer; a comparison finds those over it once the follower answers again',
  },
  'home.compareInterval': {
    value: 600_000,
    min: 1000,
    max: 86_400_000,
    unit: 'ms',
    code: null,
    rationale:
      'what a pod that died had not handed to a follower is found after this; a comparison reads all records of the region',
  },
  'room.idleTimeout': {
    value: 7_776_000_000,
    min: 600_000,
    max: 315_360_000_000,
    unit: 'ms',
    code: 'ROOM_NOT_FOUND',
    rationale:
      '90 days: a room that is used once in a quarter stays; pods with participants in a room renew it about once a minute at most',
  },
  'room.callEnterTimeout': {
    value: 86_400_000,
    min: 600_000,
    max: 315_360_000_000,
    unit: 'ms',
    code: 'ROOM_NOT_FOUND',
    rationale:
      'a day, for a room that was made for a call: its link may be sent today for a call tomorrow, and one that no participant entered is soon gone',
  },
  'room.callIdleTimeout': {
    value: 1_209_600_000,
    min: 600_000,
    max: 315_360_000_000,
    unit: 'ms',
    code: 'ROOM_NOT_FOUND',
    rationale:
      '14 days, once a participant entered: a call that is repeated every week keeps its link and its owner over a week without it',
  },
  'region.rooms': {
    value: 50_000,
    min: 1,
    max: 10_000_000,
    unit: 'named rooms',
    code: 'REGION_FULL',
    rationale:
      "20 kB for each in JetStream's 1 GB: a record with some bans and the seats of a hundred participants are half of it; rooms of calls are created up to half of the number",
  },
  'mesh.participants': {
    value: 4,
    min: 1,
    max: 12,
    unit: 'participants',
    code: null,
    rationale: 'up to here media goes from peer to peer',
  },
} as const;
