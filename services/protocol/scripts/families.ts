/** The messages of each generated file and fixture table: one place for the generator and the tests. */
import type { TSchema } from 'typebox';
import { BanMarks, BUS_MESSAGES, Entry, RoomPolicy, Section, Tombstone } from '../src/bus.ts';
import { CLIENT_MESSAGES, Generation } from '../src/client-messages.ts';
import {
  Ban,
  BanList,
  BanRequest,
  ChangeRoomRequest,
  CreateRoomAnswer,
  CreateRoomRequest,
  ErrorAnswer,
  IceServer,
  JoinAnswer,
  JoinRequest,
  LiveAnswer,
  LiveRequest,
  ParticipantList,
  Region,
  RegionList,
  RegionUrl,
  RelayOffer,
  RoomView,
  CodeName,
  DeviceId,
  ListedParticipant,
} from '../src/http.ts';
import { HOME_ANSWERS, HOME_REQUESTS } from '../src/home.ts';
import { ParticipantId, PodId, RegionId, RoomId, RoomName } from '../src/ids.ts';
import {
  ResumeChatLine,
  ChatId,
  ChatLine,
  ChatProof,
  ChatText,
  DisplayName,
  Media,
  Member,
  Presence,
  ReactionEmoji,
  Waiting,
} from '../src/people.ts';
import { SERVER_MESSAGES } from '../src/server-messages.ts';
import { CertificateHash, MediaRelay, RelayMutes, RelayName, RelayUrl } from '../src/media.ts';
import { PAGE_BUS_MESSAGES } from '../src/pages-bus.ts';
import { Link, LINK_MESSAGES, PEER_MESSAGES } from '../src/pages-peer.ts';
import {
  Holder,
  MediaType,
  PageAddress,
  PageLimits,
  PageManifest,
  PageSeal,
  PipeName,
  EncryptedHead,
  Sha256,
  VisitorId,
  VISIT_MESSAGES,
  VISITOR_MESSAGES,
} from '../src/pages.ts';
import {
  Incarnation,
  Mark,
  MediaClaims,
  ResumeClaims,
  SpanId,
  TicketClaims,
  TraceClaim,
  VisitorMarks,
} from '../src/tokens.ts';
import { TurnNode } from '../src/turn.ts';

export interface Family {
  readonly title: string;
  readonly about: string;
  /** The messages by name: the `type` on the wire, or the name of the body or token. */
  readonly messages: Readonly<Record<string, TSchema>>;
  /** Readers treat a message of an unknown type as one of a newer sender, and ignore it. */
  readonly newer?: true;
}

export const HTTP_BODIES = {
  CreateRoomRequest,
  CreateRoomAnswer,
  ChangeRoomRequest,
  RoomView,
  BanRequest,
  Ban,
  BanList,
  ParticipantList,
  JoinRequest,
  JoinAnswer,
  RegionList,
  LiveRequest,
  LiveAnswer,
  ErrorAnswer,
} as const;

export const FAMILIES = {
  client: {
    title: 'Client messages',
    about: 'Messages of a client on its socket, as JSON text messages.',
    messages: CLIENT_MESSAGES,
  },
  server: {
    title: 'Server messages',
    about: 'Messages of a pod on a socket, as JSON text messages.',
    messages: SERVER_MESSAGES,
    newer: true,
  },
  bus: {
    title: 'Bus messages',
    about: 'Messages between pods over core NATS, as JSON.',
    messages: BUS_MESSAGES,
  },
  home: {
    title: 'Requests to a home region',
    about:
      'Requests of pods about named rooms to the pods of their home region, and the answers, over core NATS as JSON.',
    messages: { ...HOME_REQUESTS, ...HOME_ANSWERS },
  },
  http: { title: 'HTTP bodies', about: 'Requests and answers of `/v1`.', messages: HTTP_BODIES },
  tokens: {
    title: 'Token claims',
    about: 'Claims of the signed tokens: EdDSA JWTs whose header names the key (`kid`).',
    messages: { TicketClaims, ResumeClaims, MediaClaims },
  },
  media: {
    title: 'Media relays',
    about: 'Leases of media relays, and the mutes that they enforce, published over core NATS as JSON.',
    messages: { MediaRelay, RelayMutes },
  },
  turn: {
    title: 'TURN nodes',
    about: 'Leases of TURN nodes, published over core NATS as JSON.',
    messages: { TurnNode },
  },
  visitor: {
    title: 'Messages of page visitors',
    about: 'Messages of a visitor on the socket of pages, as JSON text messages.',
    messages: VISITOR_MESSAGES,
  },
  visit: {
    title: 'Messages to page visitors',
    about: 'Messages of a pod on the socket of pages, as JSON text messages.',
    messages: VISIT_MESSAGES,
    newer: true,
  },
  pages: {
    title: 'Pages on the bus',
    about: 'Messages between pods about pages over core NATS, as JSON.',
    messages: PAGE_BUS_MESSAGES,
  },
  link: {
    title: 'Signaling between two visitors',
    about: 'Payloads of directed messages, as JSON.',
    messages: LINK_MESSAGES,
  },
  peer: {
    title: 'Messages between two connected visitors',
    about: 'Messages on a data channel or a pipe, as JSON text messages.',
    messages: PEER_MESSAGES,
  },
  manifest: {
    title: 'Manifests',
    about: 'The address of a page is the hash of its manifest.',
    messages: { PageManifest },
  },
} as const satisfies Record<string, Family>;

export type FamilyName = keyof typeof FAMILIES;

/** Families that a program in Rust reads or writes: the command line and the relay. */
export const RUST_FAMILIES = [
  'client',
  'server',
  'http',
  'tokens',
  'media',
  'visitor',
  'visit',
  'link',
  'peer',
  'manifest',
] as const satisfies readonly FamilyName[];

/** Types that several messages use: each becomes one named definition, so that other languages get one type for it. */
export const SHARED: Readonly<Record<string, TSchema>> = {
  RoomId,
  RoomName,
  RegionId,
  ParticipantId,
  PodId,
  DisplayName,
  Generation,
  Media,
  Member,
  Presence,
  ChatId,
  ChatText,
  ChatLine,
  ChatProof,
  ReactionEmoji,
  ResumeChatLine,
  CodeName,
  IceServer,
  RelayOffer,
  Region,
  RegionList,
  RegionUrl,
  RoomView,
  Entry,
  Tombstone,
  Section,
  BanMarks,
  RoomPolicy,
  Ban,
  Waiting,
  VisitorMarks,
  PageAddress,
  PageLimits,
  PageSeal,
  PipeName,
  VisitorId,
  Holder,
  DeviceId,
  ListedParticipant,
  Incarnation,
  Mark,
  SpanId,
  TraceClaim,
  RelayName,
  RelayUrl,
  CertificateHash,
  LinkId: Link,
  MediaType,
  Sha256,
  EncryptedHead,
};
