/** The limits of names and chat, a part of the table in `limits.ts`. */
export const CHAT_LIMITS = {
  'name.chars': {
    value: 64,
    min: 1,
    max: 256,
    unit: 'characters',
    code: 'NAME_INVALID',
    rationale: 'a name fits a tile',
  },
  'chat.chars': {
    value: 2000,
    min: 1,
    max: 4000,
    unit: 'characters',
    code: 'CHAT_TOO_LONG',
    rationale: 'a long paragraph',
  },
  'chat.lines': {
    value: 5,
    min: 1,
    max: 1000,
    unit: 'lines per second',
    code: 'TOO_MANY_CHAT_LINES',
    rationale: 'faster than a participant types; a burst of twice that is allowed',
  },
  'chat.history': {
    value: 100,
    min: 0,
    max: 1000,
    unit: 'lines',
    code: null,
    rationale: 'what a participant that resumes may have missed',
  },
  'chat.resumeLines': {
    value: 20,
    min: 0,
    max: 20,
    unit: 'lines',
    code: null,
    rationale: 'of one resume; a room recovers its chat from several clients',
  },
} as const;
