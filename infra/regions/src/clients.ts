/**
 * A network namespace of clients that reach every region, and media of its relays too, by a cable without delay to each: browsers that go on in another
 * region when theirs is lost.
 */
import { deleteNamespace, hasAddress, ip, plugCable, unplugCable, type Cable } from './namespaces.ts';
import {
  addressOf,
  entryOf,
  namespaceOf,
  numberOf,
  regionNames,
  type Place,
  type RegionName,
} from './site.ts';

/** The end of each cable in a region. */
const DEVICE = 'clients';

/** Makes it, if it is missing. The regions are there already. */
export function ensureClients(place: Place): void {
  if (hasClients(place)) return;
  const clients = namespaceOf(place, 'clients');
  deleteClients(place);
  ip(`netns add ${clients}`);
  ip(`-n ${clients} link set lo up`);
  for (const region of regionNames) connect(place, region);
}

export const deleteClients = (place: Place): void => deleteNamespace(namespaceOf(place, 'clients'));

export function unplugClients(place: Place, region: RegionName): void {
  if (hasClients(place)) unplugCable(cableTo(place, region));
}

export function plugClients(place: Place, region: RegionName): void {
  if (hasClients(place)) plugCable(cableTo(place, region));
}

function connect(place: Place, region: RegionName): void {
  const { here, there } = cableTo(place, region);
  ip(`link add ${region} netns ${here.namespace} type veth peer name ${DEVICE} netns ${there.namespace}`);
  for (const { namespace, device, address } of [here, there]) {
    ip(`-n ${namespace} addr add ${address}/30 dev ${device}`);
    ip(`-n ${namespace} link set ${device} up`);
  }
  for (const address of [entryOf(place, region).region, addressOf(region)])
    ip(`-n ${here.namespace} route add ${address}/32 via ${there.address}`);
}

/** The cable to the last region is made last. */
function hasClients(place: Place): boolean {
  const last = regionNames.at(-1) ?? 'ap';
  const { here } = cableTo(place, last);
  return hasAddress(namespaceOf(place, 'clients'), here.device, here.address);
}

function cableTo(place: Place, region: RegionName): Cable {
  const network = `10.1.${numberOf(region)}`;
  return {
    here: { namespace: namespaceOf(place, 'clients'), device: region, address: `${network}.2` },
    there: { namespace: namespaceOf(place, region), device: DEVICE, address: `${network}.1` },
  };
}
