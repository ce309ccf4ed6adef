/** Commands that send to a topic, ready to be copied. */
import { CopyButton } from '../design/copy-button.tsx';
import { socketUrl } from './address.ts';
import './commands.css';
import { publisherTopic } from './topic.ts';

interface SendExample {
  readonly id: string;
  readonly title: string;
  readonly command: (url: string) => string;
}

const ENCODE = '-c:v libx264 -preset veryfast -tune zerolatency -pix_fmt yuv420p -g 50';

const EXAMPLES: readonly SendExample[] = [
  {
    id: 'camera',
    title: 'A camera',
    command: (url) => `ffmpeg -i /dev/video0 ${ENCODE} -f mpegts - | parley stream pub ${url}`,
  },
  {
    id: 'test',
    title: 'A test picture',
    command: (url) =>
      `ffmpeg -re -f lavfi -i testsrc=size=640x360:rate=25 ${ENCODE} -f mpegts - | parley stream pub ${url}`,
  },
  {
    id: 'text',
    title: 'Lines of text, one message each',
    command: (url) => `vmstat 1 | parley stream pub --text ${url}`,
  },
];

export function Commands({ topic }: { readonly topic: string }) {
  const url = socketUrl(publisherTopic(topic), null);
  return (
    <ul class="commands">
      {EXAMPLES.map(({ id, title, command }) => (
        <li key={id} class="command">
          <h3>{title}</h3>
          <code>{command(url)}</code>
          <CopyButton text={command(url)} label="Copy" testid={`copy-${id}`} />
        </li>
      ))}
    </ul>
  );
}
