/** Mutes that hold, as the owner and the muted participant see them, and the question before the end of a call. */
import { call, press } from './call-state.tsx';
import { NAMED_VIEW, owned, people, snapshot } from './people.ts';

const mutedPeople = (count: number) =>
  people(count).map((person, index) => ({
    ...person,
    owner: index === 0,
    muted: index > 0,
    media: { ...person.media, audio: index === 0 },
  }));

export const MUTE_STATES = {
  'owner-muted': () =>
    call({
      owner: 'obeyed',
      change: { ...owned(4), people: mutedPeople(4), allMuted: true },
      script: (session) => {
        session.openPanel('people');
        press('[data-testid=person]:nth-of-type(3) [data-testid=person-menu]');
      },
    }),
  'owner-end-call': () =>
    call({
      owner: 'obeyed',
      change: owned(3),
      script: (session) => {
        session.openPanel('people');
        press('[data-testid=end-call]');
      },
    }),
  'owner-end-call-refused': () =>
    call({
      owner: 'STORE_UNAVAILABLE',
      change: owned(3),
      script: (session) => {
        session.dialog.value = { kind: 'end-call' };
        press('[data-testid=end-call-confirm]');
      },
    }),
  'call-muted-by-owner': () =>
    call({
      change: {
        people: people(3),
        room: NAMED_VIEW.room,
        view: NAMED_VIEW,
        me: { ...snapshot().me, muted: true, media: { audio: false, video: true, screen: false } },
      },
    }),
};
