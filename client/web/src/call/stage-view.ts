/** The view that the user chose: grid or speaker, the pinned participant, the large screen, and the page. */
import type { ParticipantId } from '@parley/protocol/ids';
import { signal } from '@preact/signals';
import { rememberView, viewChosen } from '../memory/profile.ts';
import type { View } from './stage-plan.ts';

export class StageView {
  readonly view = signal<View>(viewChosen());
  readonly pinned = signal<ParticipantId | null>(null);
  /** Whose screen is large where several are shared. */
  readonly sharer = signal<ParticipantId | null>(null);
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

  turn(by: 1 | -1): void {
    this.page.value = Math.min(this.pages.value - 1, Math.max(0, this.page.value + by));
  }

  /** Takes the shown page, because pages disappear when participants leave. */
  shown(page: number, pages: number): void {
    this.page.value = page;
    this.pages.value = pages;
  }
}
