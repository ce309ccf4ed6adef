/** The regions of the installation as a call knows them, and the one that it uses. SPEC rules REG-7 to REG-10. */
import { socketPath, type Region, type RegionList } from '@parley/protocol/http';
import type { CallOptions } from '../call.ts';
import { recallRegions, rememberRegions } from './memory.ts';

type Options = Pick<CallOptions, 'api' | 'room' | 'regionMemory'>;

export class Regions {
  readonly #options: Options;
  #list: readonly Region[] = [];
  #current: Region | null = null;
  /** What the client chose when it joined: it returns there when the pod of another region drains. */
  #preferred: Region | null = null;
  #isChosen = false;

  constructor(options: Options) {
    this.#options = options;
    const known = recallRegions(options.regionMemory, options.api);
    if (known !== null) this.#take(known);
  }

  /** All of them, where there are several; otherwise none. */
  get all(): readonly Region[] {
    return this.#list.length > 1 ? this.#list : [];
  }

  /** `null` before any answer names it. */
  get current(): Region | null {
    return this.#current;
  }

  /** Whether the choice of the region is made. It is made once, before the first welcome. */
  get isChosen(): boolean {
    return this.#isChosen;
  }

  /** The region to return to, where the client had to leave it. */
  get left(): Region | null {
    return this.#preferred === null || this.#preferred.name === this.#current?.name ? null : this.#preferred;
  }

  /** The origin of the API. */
  get api(): string {
    return this.#current?.url ?? this.#options.api;
  }

  get socketUrl(): string {
    return `${this.api.replace(/^http/, 'ws')}${socketPath(this.#options.room)}`;
  }

  /** Of an answer or a welcome: `undefined` where the installation has one region. */
  learn(list: RegionList | undefined): void {
    if (list === undefined) this.#list = [];
    else this.#take(list);
    rememberRegions(
      this.#options.regionMemory,
      list === undefined ? null : { ...list, api: this.#options.api },
    );
  }

  /** The region of a socket that is still to be used. */
  locate(socketUrl: string): void {
    const at = this.#list.find(({ url }) => socketUrl.startsWith(`${url.replace(/^http/, 'ws')}/`));
    if (at !== undefined) this.#current = at;
  }

  choose(region: Region): void {
    this.#isChosen = true;
    this.#preferred = region;
    this.#current = region;
  }

  /** Without a choice the client stays where it was welcomed. */
  welcomed(): void {
    this.#preferred ??= this.#current;
  }

  use(region: Region): void {
    this.#current = region;
  }

  /** No region is known to work: back to the address with which the call began, without another choice. */
  forgetCurrent(): void {
    this.#isChosen = true;
    this.#current = null;
    this.#preferred = null;
  }

  #take({ region, regions }: RegionList): void {
    this.#list = regions;
    this.#current = regions.find(({ name }) => name === region) ?? this.#current;
  }
}
