/** A call over TURN and a live broadcast over QUIC during a fault, and the interruptions that its participants have. */
import type { Browser } from 'playwright-core';
import type { Sizes } from '@parley/e2e/support/browsers.ts';
import { publish, watch, type LiveWatcher } from '@parley/e2e/support/live.ts';
import { newRoom, Visitor } from '@parley/e2e/support/visitor.ts';
import { web } from './browser.ts';

/** Four pages are to leave half of two slow processors to three nodes. */
const sizes: Sizes = { camera: { width: 160, height: 90, frameRate: 5 }, page: { width: 480, height: 360 } };

/** Milliseconds: the longest time of any participant without a new picture or a sound, or without a socket to signaling. */
export interface Interruptions {
  readonly callMs: number;
  readonly liveMs: number;
  readonly signalingMs: number;
}

export interface Noticed extends Interruptions {
  /** Participants that are no longer in their call, became another participant, or were shown to have left. */
  readonly lost: readonly string[];
}

interface Person {
  readonly visitor: Visitor;
  readonly participant: string;
  readonly mark: number;
}

export class Scene {
  readonly callers: readonly Visitor[];
  readonly watcher: LiveWatcher;
  #people: readonly Person[] = [];
  #since = 0;

  private constructor(callers: readonly Visitor[], watcher: LiveWatcher) {
    this.callers = callers;
    this.watcher = watcher;
  }

  /** Resolves when all participants see and hear the others of their call. */
  static async open(browser: Browser): Promise<Scene> {
    const callers = await call(browser);
    const name = newRoom();
    await publish(browser, { web, name, sizes });
    const watcher = await watch(browser, { web, name, sizes });
    await watcher.seesMotion();
    return new Scene(callers, watcher);
  }

  /** The address of the TURN server that the first caller sends through. */
  async turnInUse(): Promise<string> {
    return (await this.callers[0]?.page.evaluate(readRelayAddress)) ?? '';
  }

  /** Starts the measurement. */
  async begin(): Promise<void> {
    this.#people = await Promise.all(
      this.callers.map(async (visitor) => {
        await visitor.watch();
        await visitor.page.evaluate(timeStatus);
        return { visitor, participant: await visitor.participant(), mark: visitor.messages.log.length };
      }),
    );
    this.#since = await this.watcher.now();
  }

  async noticed(): Promise<Noticed> {
    const waits = await Promise.all(this.#people.map(({ visitor }) => visitor.page.evaluate(readStatusGap)));
    return {
      callMs: await longestOf(this.callers),
      liveMs: await this.#longestOfBroadcast(),
      signalingMs: Math.max(...waits),
      lost: (await Promise.all(this.#people.map(lossesOf))).flat(),
    };
  }

  async #longestOfBroadcast(): Promise<number> {
    const frames = [this.#since, ...(await this.watcher.frames(this.#since)), await this.watcher.now()];
    return Math.round(Math.max(...frames.slice(1).map((at, nth) => at - (frames[nth] ?? at))));
  }
}

/** Both participants hide their addresses, so all media goes through TURN servers of the cluster. */
async function call(browser: Browser): Promise<Visitor[]> {
  const room = newRoom();
  const people: Visitor[] = [];
  for (const name of ['Ada', 'Bo']) {
    people.push(await Visitor.join(browser, { name, web, room, relayOnly: true, sizes }));
  }
  await Promise.all(people.map((person) => person.receivesMedia(1)));
  await Promise.all(people.map((person) => person.usesPath(/^relay\/\w+-relay$/)));
  return people;
}

async function longestOf(people: readonly Visitor[]): Promise<number> {
  const watched = await Promise.all(people.map((person) => person.watched()));
  const interruptions = watched.flatMap((one) => one.interruptions);
  return Math.max(...interruptions.flatMap(({ stillMs, silentMs }) => [stillMs, silentMs]));
}

async function lossesOf({ visitor, participant, mark }: Person): Promise<string[]> {
  const { name, messages } = visitor;
  const isThere = (await visitor.participant()) === participant;
  const status = await visitor.page.getByTestId('call').getAttribute('data-status');
  const left = messages.joinsAndLeaves(mark).filter((event) => event.endsWith(' left'));
  return [...(isThere && status === 'connected' ? [] : [`${name} is ${status ?? 'gone'}`]), ...left];
}

/** Runs in the page: where our side of the connection in use was allocated. */
async function readRelayAddress(): Promise<string> {
  const { parleyConnections } = globalThis as unknown as { parleyConnections: RTCPeerConnection[] };
  const connection = parleyConnections.find(({ connectionState }) => connectionState === 'connected');
  const rows = new Map<string, Record<string, unknown>>();
  (await connection?.getStats())?.forEach((row: Record<string, unknown>, key: string) => rows.set(key, row));
  const transport = [...rows.values()].find((row) => row['type'] === 'transport');
  const pair = rows.get(String(transport?.['selectedCandidatePairId']));
  return String(rows.get(String(pair?.['localCandidateId']))?.['address']);
}

interface Timing {
  parleyStatusGap(): number;
}

/** Runs in the page: the longest time for which the call has no socket, from now on. */
function timeStatus(): void {
  const isConnected = (): boolean =>
    document.querySelector<HTMLElement>('[data-testid=call]')?.dataset['status'] === 'connected';
  let [lostAt, longest] = [Number.POSITIVE_INFINITY, 0];
  const look = (): void => {
    if (!isConnected()) {
      lostAt = Math.min(lostAt, performance.now());
      longest = Math.max(longest, performance.now() - lostAt);
    } else lostAt = Number.POSITIVE_INFINITY;
  };
  setInterval(look, 50);
  Object.assign(globalThis, {
    parleyStatusGap: () => {
      look();
      return Math.round(longest);
    },
  });
}

/** Runs in the page. */
function readStatusGap(): number {
  return (globalThis as unknown as Timing).parleyStatusGap();
}
