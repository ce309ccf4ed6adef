/** What a browser receives, from its own statistics: decoded frames, audio energy, the path in use. */

/** Sums over all live connections of a page. */
export interface Received {
  readonly connected: number;
  readonly videos: readonly { readonly id: string; readonly framesDecoded: number; readonly width: number }[];
  readonly audios: readonly { readonly id: string; readonly energy: number; readonly packets: number }[];
  /** `host`, `srflx`, `prflx` or `relay` of our side, with the protocol to the TURN server if one is used. */
  readonly paths: readonly string[];
  /** Ids of the pairs of candidates in use. */
  readonly pairs: readonly string[];
}

/** Runs in the page. */
export async function readReceived(): Promise<Received> {
  const { parleyConnections } = globalThis as unknown as { parleyConnections: RTCPeerConnection[] };
  const videos: { id: string; framesDecoded: number; width: number }[] = [];
  const audios: { id: string; energy: number; packets: number }[] = [];
  const paths: string[] = [];
  const pairs: string[] = [];
  let connected = 0;
  for (const [index, connection] of parleyConnections.entries()) {
    if (connection.connectionState !== 'connected') continue;
    connected += 1;
    const report = await connection.getStats();
    const all = new Map<string, Record<string, unknown>>();
    report.forEach((value: Record<string, unknown>, key: string) => all.set(key, value));
    const inUse = new Set([...all.values()].map((row) => row['selectedCandidatePairId']));
    for (const row of all.values()) {
      if (row['type'] === 'inbound-rtp') {
        const id = `${index}:${String(row['mid'])}`;
        if (row['kind'] === 'video') {
          videos.push({
            id,
            framesDecoded: Number(row['framesDecoded'] ?? 0),
            width: Number(row['frameWidth'] ?? 0),
          });
        } else {
          const energy = Number(row['totalAudioEnergy'] ?? 0);
          audios.push({ id, energy, packets: Number(row['packetsReceived'] ?? 0) });
        }
      }
      // Firefox marks the pair in use itself; elsewhere the transport names it.
      if (row['type'] === 'candidate-pair' && (row['selected'] === true || inUse.has(row['id']))) {
        const local = all.get(String(row['localCandidateId']));
        const remote = all.get(String(row['remoteCandidateId']));
        const relayProtocol = local?.['relayProtocol'];
        const via = typeof relayProtocol === 'string' ? `/${relayProtocol}` : '';
        pairs.push(String(row['id']));
        paths.push(`${String(local?.['candidateType'])}${via}-${String(remote?.['candidateType'])}`);
      }
    }
  }
  return { connected, videos, audios, paths, pairs };
}

/** The ones that moved between two readings. */
export function progress(before: Received, after: Received): { videos: number; audios: number } {
  const framesBefore = new Map(before.videos.map((video) => [video.id, video.framesDecoded]));
  const energyBefore = new Map(before.audios.map((audio) => [audio.id, audio.energy]));
  return {
    videos: after.videos.filter((video) => video.framesDecoded > (framesBefore.get(video.id) ?? 0)).length,
    audios: after.audios.filter((audio) => audio.energy > (energyBefore.get(audio.id) ?? 0)).length,
  };
}
