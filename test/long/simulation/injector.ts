import { START } from './conditions';
import { type Fault, isClientFault } from './faults';
import { forkWhenIdle } from './forks';
import type { Fate } from './network';
import type { Directory } from './sim-disk';
import type { Host, SimPlace, WorldParts } from './places';

/** Carries one fault out. */
export function inject(world: WorldParts, fault: Fault): void {
  const { scheduler, network } = world;
  const { kind, ms, by } = fault;
  if (isClientFault(kind)) {
    world.clients.inject(kind, fault);
    return;
  }
  const host = world.hosts[fault.host];
  const place = host?.places[fault.process];
  if (host === undefined || place === undefined) return;
  const { now } = scheduler;
  const touch = (until: number): void => {
    for (const each of host.places) each.touchedUntil = Math.max(each.touchedUntil, until);
  };
  touch(now);
  // eslint-disable-next-line @typescript-eslint/switch-exhaustiveness-check -- the rest is armed
  switch (kind) {
    case 'crash':
      place.process?.crash();
      break;
    case 'stop':
      place.process?.stop();
      break;
    case 'rolling replacement':
      replaceAll(world);
      break;
    case 'pause':
    case 'machine suspended':
      touch(now + ms);
      for (const { process, clock } of kind === 'pause' ? [place] : host.places) {
        if (!process?.alive) continue;
        clock.freeze({ ms, suspended: kind !== 'pause', step: 0 });
        // It may have been frozen already.
        touch(clock.local);
      }
      break;
    case 'pause inside a call':
      place.clock.freezeAtRead(by, { ms, suspended: false, step: 0 }, world.random.chance(0.5), touch);
      break;
    case 'clock step':
      host.isWrong = true;
      for (const { clock } of host.places) {
        clock.refresh();
        const before = clock.shown;
        clock.step(by);
        host.ahead = Math.max(host.ahead, before, clock.shown);
      }
      // Some are set right after a while; the others when the faults end.
      if (fault.at % 2 === 0) scheduler.at(now + ms, 'clock set right', () => setRight(world, host));
      break;
    case 'clock drift':
      host.isWrong = true;
      for (const { clock } of host.places) clock.drift(1 + by);
      break;
    case 'host cut off':
      touch(now + ms);
      for (const { line } of host.places) line.cutUntil = Math.max(line.cutUntil, now + ms);
      break;
    case 'registry down':
      network.downUntil = Math.max(network.downUntil, now + ms);
      touchAll(world, Math.min(now + ms, world.conditions.faultyMs));
      break;
    case 'directory copied':
      copyDirectory(world, place, world.places[(place.index + 1) % world.places.length]);
      break;
    case 'directory removed':
      if (world.conditions.strategy === 'local') place.tampered = true;
      exchange(world, place, world.newDirectory(place.index));
      break;
    case 'directory restored': {
      const { directory } = place.disk;
      const copy = { ...directory, lockedBy: undefined, server: directory.server.clone(place.index) };
      scheduler.at(now + ms, kind, () => {
        place.tampered = true;
        exchange(world, place, copy);
      });
      break;
    }
    case 'failover': {
      const replica = world.records.replica();
      scheduler.at(now + ms, kind, () => {
        world.records.promote(replica);
        network.server++;
        world.loseHistory();
      });
      break;
    }
    case 'registry emptied':
      world.server.empty();
      world.loseHistory();
      break;
    case 'document deleted':
      world.server.deleteDocument();
      world.loseHistory();
      break;
    case 'disk lost':
      // On another machine.
      place.clock.correct(START + host.offset + by);
      place.process?.crash();
      place.disk.directory = world.newDirectory(place.index);
      break;
    case 'process cloned':
    case 'process rolled back':
      forkWhenIdle(world, place, fault);
      break;
    default:
      place.line.armed.push({ fate: kind satisfies Fate, ms });
      touch(now + ms);
  }
}

/** As a time service does. */
export function setRight(world: WorldParts, host: Host): void {
  host.isWrong = false;
  for (const place of host.places) {
    place.clock.refresh();
    host.ahead = Math.max(host.ahead, place.clock.shown);
    place.clock.correct(START + host.offset);
    place.touchedUntil = Math.max(place.touchedUntil, world.scheduler.now);
  }
}

function touchAll(world: WorldParts, until: number): void {
  for (const place of world.places) place.touchedUntil = Math.max(place.touchedUntil, until);
}

/** One server after the other gives its worker back and starts again. */
function replaceAll(world: WorldParts): void {
  const { scheduler, conditions } = world;
  world.places.forEach((place, index) => {
    const at = scheduler.now + index * 2 * conditions.reportMs;
    scheduler.at(at, `replace ${place.name}`, () => {
      place.touchedUntil = Math.max(place.touchedUntil, at);
      place.process?.stop();
    });
  });
}

function copyDirectory(world: WorldParts, from: SimPlace, to: SimPlace | undefined): void {
  if (to === undefined || to === from) return;
  const { directory } = from.disk;
  from.tampered = to.tampered = true;
  const replaced = world.conditions.strategy === 'local' ? to.disk.directory.lineage : [];
  const lineage = [...directory.lineage, ...replaced];
  exchange(world, to, { ...directory, lineage, lockedBy: undefined, server: directory.server.clone(to.index) });
}

/** Under a running server: it cannot write any more, until somebody restarts it. */
function exchange(world: WorldParts, place: SimPlace, directory: Directory): void {
  const { scheduler, conditions } = world;
  const { process } = place;
  place.disk.directory = directory;
  const until = scheduler.now + 5 * conditions.reportMs;
  place.touchedUntil = Math.max(place.touchedUntil, until);
  scheduler.at(until, `restart ${place.name}`, () => process?.crash());
}
