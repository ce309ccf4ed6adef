/** The emoji of the call, each with the name that screen readers say. */
import { REACTIONS } from '@parley/protocol/people';

const NAMES: Readonly<Record<string, string>> = {
  '👍': 'thumbs up',
  '❤️': 'heart',
  '👏': 'clapping hands',
  '😂': 'tears of joy',
  '😮': 'surprised face',
  '🎉': 'party popper',
  '🙂': 'slight smile',
  '😀': 'grinning face',
  '😄': 'laughing face',
  '😅': 'relieved laugh',
  '😊': 'warm smile',
  '😉': 'wink',
  '😍': 'heart eyes',
  '🤩': 'star eyes',
  '😎': 'sunglasses',
  '🤔': 'thinking face',
  '🙃': 'upside-down face',
  '😬': 'grimace',
  '😴': 'sleeping face',
  '😢': 'tear',
  '😭': 'crying',
  '😡': 'angry face',
  '🤯': 'exploding head',
  '🥳': 'party face',
  '🤗': 'hug',
  '🙈': 'see-no-evil monkey',
  '👋': 'waving hand',
  '🙏': 'folded hands',
  '👎': 'thumbs down',
  '👌': 'OK hand',
  '✌️': 'victory hand',
  '🤞': 'crossed fingers',
  '💪': 'flexed arm',
  '👀': 'eyes',
  '🔥': 'fire',
  '✨': 'sparkles',
  '⭐': 'star',
  '💡': 'light bulb',
  '✅': 'check mark',
  '❌': 'cross mark',
  '❓': 'question mark',
  '❗': 'exclamation mark',
  '☕': 'coffee',
  '🍕': 'pizza',
  '🎂': 'cake',
  '🚀': 'rocket',
  '🐛': 'bug',
  '⏰': 'alarm clock',
};

/** For a message: the reactions first. */
export const EMOJI: readonly string[] = [
  ...REACTIONS,
  ...Object.keys(NAMES).filter((one) => !REACTIONS.includes(one)),
];

export const emojiName = (emoji: string): string => NAMES[emoji] ?? emoji;

/** The text with an emoji in place of the selection, and where the caret is then. */
export function withEmoji(
  text: string,
  emoji: string,
  { start, end }: { readonly start: number; readonly end: number },
): { readonly text: string; readonly caret: number } {
  return { text: text.slice(0, start) + emoji + text.slice(end), caret: start + emoji.length };
}

interface Place {
  readonly at: number;
  readonly columns: number;
  readonly count: number;
}

/** The cell to which a key leads; `undefined`: it is no key of the grid. */
export function nextCell(key: string, { at, columns, count }: Place): number | undefined {
  const last = count - 1;
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: at + 1,
    ArrowLeft: at - 1,
    ArrowDown: at + columns > last ? at : at + columns,
    ArrowUp: at < columns ? at : at - columns,
    Home: 0,
    End: last,
  };
  const to = steps[key];
  return to === undefined ? undefined : Math.min(last, Math.max(0, to));
}
