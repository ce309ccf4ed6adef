/** A participant as the merged roster of a pod shows it. */
import type { ParticipantId, PodId } from '@parley/protocol/ids';
import type { Media, Waiting } from '@parley/protocol/people';
import type { VisitorMarks } from '@parley/protocol/tokens';

export interface Person {
  readonly participant: ParticipantId;
  readonly generation: number;
  /** The pod that holds the participant. */
  readonly pod: PodId;
  readonly name: string;
  readonly media: Media;
  readonly state: 'here' | 'away' | 'unreachable' | 'waiting';
  readonly owner: boolean;
  readonly visitor: VisitorMarks | undefined;
}

export const waitingOf = ({ participant, name }: Person): Waiting => ({ participant, name });
