/** The region that a call uses: its choice, the handover to another one, and the return. SPEC rules REG-8 to REG-10. */
import type { RegionList } from '@parley/protocol/http';
import type { CallOptions } from '../call.ts';
import type { Silence } from '../net/socket.ts';
import type { Ports } from '../ports.ts';
import { Handover } from './handover.ts';
import { nearest } from './nearest.ts';
import { probe } from './probe.ts';
import { Regions } from './regions.ts';

/** With another region to go to, silence is noticed sooner: a ping after 2.5 s, and 2 s for its answer. */
const SUSPICIOUS: Silence = { pingAfterMs: 2500, timeoutMs: 4500 };

export class RegionOfCall {
  readonly #options: CallOptions;
  readonly #ports: Ports;
  readonly #regions: Regions;
  readonly #handover: Handover;
  #movingTo: string | null = null;

  /** `onMove`: the region is another one now. */
  constructor(options: CallOptions, ports: Ports, onMove: () => void) {
    this.#options = options;
    this.#ports = ports;
    this.#regions = new Regions(options);
    this.#handover = new Handover(ports, (to) => {
      this.#movingTo = to.name;
      this.#regions.use(to);
      onMove();
    });
  }

  /** The origin of the API. */
  get api(): string {
    return this.#regions.api;
  }

  get socketUrl(): string {
    return this.#regions.socketUrl;
  }

  /** The name of the region to which the call moves, as its own does not answer; until the welcome there. */
  get movingTo(): string | null {
    return this.#movingTo;
  }

  /** `undefined`: as in an installation with one region. */
  get silence(): Silence | undefined {
    return this.#regions.all.length > 0 ? SUSPICIOUS : undefined;
  }

  /** The region of a socket that is still to be used. */
  locate(socketUrl: string): void {
    this.#regions.locate(socketUrl);
  }

  learn(list: RegionList | undefined): void {
    this.#regions.learn(list);
  }

  /** Once in a call: resolves to whether the region is another one now. `undefined` where there is no choice. */
  choose(signal: AbortSignal): Promise<boolean> | undefined {
    const { all, current, isChosen } = this.#regions;
    if (all.length === 0 || current === null || isChosen) return undefined;
    const choice = { regions: all, current, hint: this.#options.region };
    return nearest(choice, this.#ports, signal).then((region) => {
      if (region === null) this.#regions.forgetCurrent();
      else this.#regions.choose(region);
      return region !== null && region !== current;
    });
  }

  /** The region that was chosen takes no socket of this newcomer: back to the address with which the call began. */
  regretChoice(): void {
    this.#regions.forgetCurrent();
  }

  /** Whether there are others to go to. */
  get hasOthers(): boolean {
    return this.#regions.all.length > 0 && this.#regions.current !== null;
  }

  /** At each attempt to come back to the room, or to its lobby. */
  considerOthers(): void {
    const { all, current } = this.#regions;
    if (all.length > 0 && current !== null) this.#handover.begin(all, current);
  }

  welcomed(list: RegionList | undefined): void {
    this.#movingTo = null;
    this.#handover.end();
    this.#regions.learn(list);
    this.#regions.welcomed();
  }

  /**
   * The pod drains. `isBack`: the call had to leave its region, which answers again, and uses it from now on. The returned function ends it before.
   */
  moveAfter(afterMs: number, then: (isBack: boolean) => void): () => void {
    const { left } = this.#regions;
    let answers = false;
    const stop =
      left === null
        ? () => undefined
        : probe([left], this.#ports, 1, ({ ms }) => {
            answers = ms !== null;
          });
    const cancel = this.#ports.clock.after(afterMs, () => {
      stop();
      if (answers && left !== null) this.#regions.use(left);
      then(answers);
    });
    return () => {
      stop();
      cancel();
    };
  }

  /** The region answered on the socket, or the call ended. */
  stay(): void {
    this.#handover.end();
  }
}
