/** The reference to beat: what one writes in an hour with Node and `ws`. Rooms in memory, JSON read and written again for every message. */
import { WebSocketServer, type WebSocket } from 'ws';

type Said = { type: 'join'; room: string; peer: string } | { type: 'signal'; to: string; data: unknown };

const rooms = new Map<string, Map<string, WebSocket>>();
const server = new WebSocketServer({ host: '127.0.0.1', port: Number(process.argv[2]) });

server.on('connection', (socket) => {
  let roomName = '';
  let me = '';

  const tellOthers = (message: unknown): void => {
    for (const [peer, other] of rooms.get(roomName) ?? []) {
      if (peer !== me) other.send(JSON.stringify(message));
    }
  };

  socket.on('message', (data) => {
    const message = JSON.parse((data as Buffer).toString()) as Said;
    if (message.type === 'signal') {
      const to = rooms.get(roomName)?.get(message.to);
      to?.send(JSON.stringify({ type: 'signal', from: me, data: message.data }));
      return;
    }
    roomName = message.room;
    me = message.peer;
    const room = rooms.get(roomName) ?? new Map<string, WebSocket>();
    rooms.set(roomName, room);
    socket.send(JSON.stringify({ type: 'joined', peers: [...room.keys()] }));
    room.set(me, socket);
    tellOthers({ type: 'peer-joined', peer: me });
  });

  socket.on('close', () => {
    const room = rooms.get(roomName);
    room?.delete(me);
    if (room?.size === 0) rooms.delete(roomName);
    tellOthers({ type: 'peer-left', peer: me });
  });
  socket.on('error', () => socket.terminate());
});
