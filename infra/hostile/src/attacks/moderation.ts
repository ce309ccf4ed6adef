/** Against the owner of a room: keys that are guessed, bans and kicks that are evaded, locks, lobbies and caps. */
import { ask } from '../ask.ts';
import { each, expectOneOf, type Attack } from '../attack.ts';
import { NamedRoom } from '../named-room.ts';
import { Participant } from '../participant.ts';

const DEVICE = 'mallorys-device-0001';

export const MODERATION_ATTACKS: readonly Attack[] = [
  {
    name: 'owner-key-guesses',
    rules: ['ROOM-6', 'LIM-7'],
    async run(arena) {
      const room = await NamedRoom.create(arena);
      const other = await NamedRoom.create(arena);
      const from = arena.address();
      const keys = [
        '',
        'x',
        other.key,
        room.key.slice(0, -1),
        room.key.toUpperCase(),
        `${room.key} `.repeat(50),
      ];
      const guess = (key: string) =>
        room.ask('PATCH', '', { json: { locked: true }, key: key.trimEnd(), from });
      const answers = await each(keys, JSON.stringify, async (key) => {
        expectOneOf((await guess(key)).code, ['OWNER_KEY_INVALID']);
      });
      const codes: (string | undefined)[] = [];
      for (let tried = 0; tried < 300 && codes.at(-1) !== 'TOO_MANY_REQUESTS'; tried += 10)
        for (const { code } of await Promise.all(
          Array.from({ length: 10 }, (_, at) => guess(`guess-${tried + at}`)),
        ))
          codes.push(code);
      if (!codes.includes('TOO_MANY_REQUESTS')) throw new Error(`${codes.length} guesses were answered`);
      return `${answers}, TOO_MANY_REQUESTS`;
    },
  },
  {
    name: 'kicked-resumes',
    rules: ['MOD-1'],
    async run(arena) {
      const room = await NamedRoom.create(arena);
      const mallory = await Participant.enter(arena.edge, room.room, { from: arena.address() });
      const { resume } = mallory.welcome;
      await room.owns('POST', `/participants/${mallory.id}/kick`);
      expectOneOf(await mallory.refusedWith(), ['KICKED']);
      await mallory.connect();
      mallory.sendResume(resume);
      expectOneOf(await mallory.refusedWith(), ['KICKED']);
      return 'KICKED';
    },
  },
  {
    name: 'ended-call-resumes',
    rules: ['MOD-13'],
    async run(arena) {
      const room = await NamedRoom.create(arena);
      const mallory = await Participant.enter(arena.edge, room.room, { from: arena.address() });
      const { resume } = mallory.welcome;
      await room.owns('POST', '/end');
      expectOneOf(await mallory.refusedWith(), ['CALL_ENDED']);
      await mallory.connect();
      mallory.sendResume(resume);
      expectOneOf(await mallory.refusedWith(), ['CALL_ENDED']);
      return 'CALL_ENDED';
    },
  },
  {
    name: 'ban-evasion',
    rules: ['MOD-2', 'MOD-8'],
    async run(arena) {
      const room = await NamedRoom.create(arena);
      const from = arena.address();
      const mallory = new Participant(arena.edge, room.room, { from, json: { device: DEVICE } });
      await mallory.join();
      await mallory.welcomed();
      // A second ticket, taken before the ban.
      const kept = new Participant(arena.edge, room.room, { from, json: { device: DEVICE } });
      const join = (address: string, json: object) =>
        ask(arena.edge, `/v1/rooms/${room.room}/join`, { from: address, json });
      const ticket = JSON.parse((await join(from, { device: DEVICE })).body) as { ticket: string };
      const { resume } = mallory.welcome;
      await room.owns('POST', `/participants/${mallory.id}/ban`, { network: true });
      expectOneOf(await mallory.refusedWith(), ['BANNED']);
      await kept.connect();
      kept.sendEnter(ticket.ticket);
      expectOneOf(await kept.refusedWith(), ['BANNED']);
      await mallory.connect();
      mallory.sendResume(resume);
      expectOneOf(await mallory.refusedWith(), ['BANNED']);
      expectOneOf((await join(from, {})).code, ['BANNED']);
      expectOneOf((await join(arena.address(), { device: DEVICE })).code, ['BANNED']);
      return 'BANNED';
    },
  },
  {
    name: 'locked-room',
    rules: ['MOD-3'],
    async run(arena) {
      const room = await NamedRoom.create(arena);
      const late = new Participant(arena.edge, room.room, { from: arena.address() });
      const before = await ask(arena.edge, `/v1/rooms/${room.room}/join`, {
        from: arena.address(),
        json: {},
      });
      await room.owns('PATCH', '', { locked: true });
      const after = await ask(arena.edge, `/v1/rooms/${room.room}/join`, { from: arena.address(), json: {} });
      expectOneOf(after.code, ['ROOM_LOCKED']);
      await late.connect();
      late.sendEnter((JSON.parse(before.body) as { ticket: string }).ticket);
      expectOneOf(await late.refusedWith(), ['ROOM_LOCKED']);
      return 'ROOM_LOCKED';
    },
  },
  {
    name: 'lock-and-cap-after-all-left',
    rules: ['RES-6', 'MOD-3', 'MOD-7'],
    async run(arena) {
      const room = await NamedRoom.create(arena, { cap: 2 });
      const tokens: string[] = [];
      // Each takes a token along and makes room for the next.
      for (let entered = 0; entered < 4; entered += 1) {
        const one = await Participant.enter(arena.edge, room.room, { from: arena.address() });
        tokens.push(one.welcome.resume);
        one.leave();
        await one.refusedWith();
      }
      await room.owns('PATCH', '', { locked: true });
      const inside = await each(
        tokens,
        () => 'a token of a participant who left',
        async (token) => {
          const back = new Participant(arena.edge, room.room, { from: arena.address() });
          back.generation = 5;
          await back.connect();
          back.sendResume(token);
          expectOneOf(await back.refusedWith(), ['RESUME_EXPIRED', 'ROOM_LOCKED']);
        },
      );
      const owner = new Participant(arena.edge, room.room, {
        from: arena.address(),
        headers: room.authorization,
      });
      await owner.join();
      await owner.welcomed();
      owner.drop();
      return `${inside}, the owner enters`;
    },
  },
  {
    name: 'lobby-flood',
    rules: ['MOD-5', 'LIM-7'],
    async run(arena) {
      const room = await NamedRoom.create(arena, { lobby: true });
      const from = arena.address();
      const waiting: Participant[] = [];
      let refused: string | undefined;
      for (let attempts = 0; attempts < 60 && refused === undefined; attempts += 1) {
        const one = new Participant(arena.edge, room.room, { from });
        waiting.push(one);
        await one.join();
        await one.changes.until(
          'the lobby or a refusal',
          () => one.log.length > 0 || one.closed !== undefined,
          10_000,
        );
        refused = one.fatal;
      }
      if (refused === undefined) throw new Error('one network has 60 places in the lobby');
      const guest = new Participant(arena.edge, room.room, { from: arena.address(), name: 'Guest' });
      await guest.join();
      await guest.waitFor('lobby-waiting');
      for (const one of [...waiting, guest]) one.drop();
      return `${refused} after ${waiting.length - 1}, a guest still waits`;
    },
  },
];
