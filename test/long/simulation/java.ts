import { LAYOUTS, START } from './conditions';
import { NOT_EXPOSED, type Issuer } from './issuer';
import type { WorldParts } from './places';
import { SimClock } from './sim-clock';
import type { SimZookeeper } from './sim-zookeeper';

const REPORT_MS = 3000;
/** A record of it counts as in use for this long after its time. */
const ALIVE_MS = 30_000;

/**
 * Servers of the Java service under the same name. Each writes the present time every 3 s, without a lease and without a
 * ceiling, and issues IDs as the worker of its node until it is stopped.
 */
export function addJava(world: WorldParts, zookeeper: SimZookeeper): void {
  const { conditions, random, scheduler } = world;
  for (let index = 0; index < conditions.java; index++) {
    const clock = new SimClock(scheduler, START + Math.round(random.fraction() * 200));
    const instance = { ip: `10.0.1.${index}`, port: 8080 };
    const stopAt = conditions.faultyMs * (0.1 + 0.6 * random.fraction());
    const workerId = zookeeper.addJava(instance, clock.shown);
    const issuer: Issuer = {
      ...{ kind: 'java', name: `java${index}`, host: -1 - index, instance: instance.ip, leaseId: '', workerId },
      ...{ floor: -1, acquiredAt: 0, directory: undefined, newest: 0, exposure: NOT_EXPOSED },
    };
    const every = (ms: number, label: string, act: () => void): void => {
      for (let at = random.fraction() * ms; at < stopAt; at += ms) {
        scheduler.at(at, `${label} of java${index}`, () => {
          clock.refresh();
          act();
        });
      }
    };
    every(REPORT_MS, 'report', () => zookeeper.reportJava(instance, workerId, clock.shown));
    every(conditions.askMs, 'IDs', () => issue(world, issuer, clock.shown));
    // No server of Leaf starts beside it.
    for (const place of world.places) place.touchedUntil = Math.max(place.touchedUntil, stopAt + ALIVE_MS);
  }
}

/** All of a millisecond: it shows whoever else issues in it. */
function issue({ ledger }: WorldParts, issuer: Issuer, timestamp: number): void {
  const [{ sequenceBits }] = LAYOUTS;
  const first = issuer.workerId * 2 ** sequenceBits;
  ledger.issued(issuer, timestamp, first, first + 2 ** sequenceBits - 1);
}
