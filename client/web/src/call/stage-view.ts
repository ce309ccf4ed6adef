/** The view that the user chose: grid or speaker, the pinned participant, the large screen, and the page. */
import type { ParticipantId } from '@parley/protocol/ids';
import { signal } from '@preact/signals';
import {
  cornerChosen,
  rememberCorner,
  rememberView,
  selfShown,
  setSelfShown,
  viewChosen,
} from '../memory/profile.ts';
import { nextCorner, type Corner } from './corner.ts';
import type { View } from './stage-plan.ts';

export class StageView {
  readonly view = signal<View>(viewChosen());
  readonly pinned = signal<ParticipantId | null>(null);
  /** Whose screen is large where several are shared. */
  readonly sharer = signal<ParticipantId | null>(null);
  /** Whether the user sees their own picture; the others see it in any case. */
  readonly self = signal(selfShown());
  /** Where it lies in a call of two. */
  readonly corner = signal<Corner>(cornerChosen());
  readonly page = signal(0);
  /** The number of pages, set by the stage. */
  readonly pages = signal(1);

  toggleView(): void {
    this.view.value = this.view.value === 'grid' ? 'speaker' : 'grid';
    this.page.value = 0;
    rememberView(this.view.value);
  }

  togglePin(participant: ParticipantId): void {
    this.pinned.value = this.pinned.value === participant ? null : participant;
    this.page.value = 0;
  }

  showSelf(shown: boolean): void {
    this.self.value = shown;
    setSelfShown(shown);
  }

  /** To the next corner if none is given. */
  moveSelf(corner: Corner = nextCorner(this.corner.value)): void {
    this.corner.value = corner;
    rememberCorner(corner);
  }

  turn(by: 1 | -1): void {
    this.page.value = Math.min(this.pages.value - 1, Math.max(0, this.page.value + by));
  }

  /** Takes the shown page, because pages disappear when participants leave. */
  shown(page: number, pages: number): void {
    this.page.value = page;
    this.pages.value = pages;
  }
}
