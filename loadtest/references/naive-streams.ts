/** The reference for streams that one writes in an hour with Node and `ws`: what comes on `/in/x` goes to everyone on `/out/x`. */
import { WebSocketServer, type WebSocket } from 'ws';

const topics = new Map<string, Set<WebSocket>>();
const server = new WebSocketServer({ host: '127.0.0.1', port: Number(process.argv[2]) });

server.on('connection', (socket, { url = '/' }) => {
  const name = url.startsWith('/in/') ? `/out/${url.slice(4)}` : url;
  const readers = topics.get(name) ?? new Set();
  topics.set(name, readers);
  if (!url.startsWith('/in/')) readers.add(socket);

  socket.on('message', (data, isBinary) => {
    if (url.startsWith('/out/')) return;
    for (const reader of readers) {
      if (reader !== socket) reader.send(data, { binary: isBinary });
    }
  });

  socket.on('close', () => readers.delete(socket));
  socket.on('error', () => socket.terminate());
});
