// Requests a push every second and shows it. Data is inserted only as text nodes, never as markup.
const PUSH_MS = 1000;
const KEPT = 60;
const byId = (id) => document.getElementById(id);
const kept = new Map();
let last;
// The operator's token, if the relay requires one (STR-132). It is in the fragment, which is not sent to servers, or entered in the form.
let token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
history.replaceState(null, '', location.pathname);

function connect() {
  const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`);
  let isRefused = false;
  socket.addEventListener('open', () => {
    if (token) socket.send(token);
    socket.send(JSON.stringify({ push: PUSH_MS }));
  });
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(data);
    if (message.authorised === false) {
      isRefused = true;
      ask(message.reason);
    } else if ('uptimeMs' in message) show(message);
  });
  socket.addEventListener('close', () => {
    last = undefined;
    if (isRefused) return;
    byId('state').textContent = 'not connected, trying again';
    setTimeout(connect, 1000 + Math.random() * 2000);
  });
}

function ask(reason) {
  byId('ask').hidden = false;
  byId('state').textContent = token ? `the token was refused: ${reason}` : 'this relay asks for a token';
  byId('token').focus();
}

byId('ask').addEventListener('submit', (event) => {
  event.preventDefault();
  token = byId('token').value.trim();
  byId('ask').hidden = true;
  connect();
});

function show(pod) {
  byId('state').textContent = `up ${span(pod.uptimeMs)}`;
  const seconds = last ? Math.max(0.001, (pod.uptimeMs - last.uptimeMs) / 1000) : 1;
  const rate = (name) => (last ? (pod[name] - last[name]) / seconds : 0);
  tile('sockets', pod.sockets, String);
  tile('topics', pod.topics, String);
  tile('in', rate('receivedBytes') * 8, bits);
  tile('out', rate('deliveredBytes') * 8, bits);
  tile('deliveries', rate('delivered'), (value) => `${Math.round(value)}/s`);
  tile('dropped', rate('dropped'), (value) => `${Math.round(value)}/s`);
  tile('waiting', pod.queuedBytes, (value) => `${(value / 1e6).toFixed(1)} MB`);
  last = pod;
  const topics = Map.groupBy ? Map.groupBy(pod.clients, (client) => client.topic) : grouped(pod.clients);
  byId('topics').replaceChildren(...[...topics].map(([name, clients]) => topic(name, clients)));
  byId('none').hidden = pod.clients.length > 0;
}

function tile(name, value, format) {
  const values = kept.get(name) ?? [];
  values.push(value);
  if (values.length > KEPT) values.shift();
  kept.set(name, values);
  let figure = byId(`tile-${name}`);
  if (!figure) {
    figure = byId('tile').content.firstElementChild.cloneNode(true);
    figure.id = `tile-${name}`;
    figure.querySelector('figcaption').textContent = name;
    figure.querySelector('svg').setAttribute('aria-label', `${name}, the last minute`);
    byId('tiles').append(figure);
  }
  figure.querySelector('output').textContent = format(value);
  const top = Math.max(...values, 1e-9);
  const points = values.map((one, at) => `${(at * 120) / (KEPT - 1)},${30 - (one / top) * 28}`);
  figure.querySelector('polyline').setAttribute('points', points.join(' '));
}

function topic(name, clients) {
  const article = byId('topic').content.firstElementChild.cloneNode(true);
  article.querySelector('h2').textContent = name;
  article.querySelector('tbody').append(...clients.map(row));
  return article;
}

function row(client) {
  const line = document.createElement('tr');
  const who = cell('', `${client.role} ${client.remoteAddr}`);
  const agent = document.createElement('small');
  agent.textContent = client.userAgent;
  who.append(agent);
  const dropped = client.queued ? `${client.dropped} (${client.queued} wait)` : client.dropped;
  line.append(
    who,
    cell('sends', flow(client.stats.tx)),
    cell('receives', flow(client.stats.rx)),
    cell('dropped', dropped),
  );
  return line;
}

function cell(name, text) {
  const one = document.createElement('td');
  if (name) one.dataset.name = name;
  one.textContent = text;
  return one;
}

const flow = ({ last: ago, size, fps }) => (ago === 'Never' ? '–' : `${fps.toFixed(1)}/s × ${size} B`);
const span = (ms) => (ms < 60000 ? `${Math.round(ms / 1000)} s` : `${Math.floor(ms / 60000)} min`);

function bits(value) {
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} Mbit/s`;
  return `${(value / 1e3).toFixed(0)} kbit/s`;
}

function grouped(clients) {
  const topics = new Map();
  for (const client of clients) topics.set(client.topic, [...(topics.get(client.topic) ?? []), client]);
  return topics;
}

connect();
