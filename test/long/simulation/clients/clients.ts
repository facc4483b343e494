import type { StoredWorker } from '@leaf-ids/core';
import { START } from '../conditions';
import type { ClientFaultKind, Fault } from '../faults';
import { expose, type Issuer, type Loss } from '../issuer';
import type { WorldParts } from '../places';
import { SimClock } from '../sim-clock';
import { ClientHop } from './client-hop';
import { type ClientPlace, SimClient } from './sim-client';

/** The client processes of a world, and what the registry has of their windows. */
export class Clients {
  private readonly places: ClientPlace[] = [];
  private readonly hop: ClientHop;
  private readonly issuers: Issuer[] = [];
  /** The write with the latest end of each lease; `at` in true milliseconds. */
  private readonly latest = new Map<string, { readonly name: string; readonly at: number; readonly end: number }>();
  /** Leases whose windows nobody has registered again after the registry lost its history, by the loss. */
  private readonly missed = new Map<string, Loss>();
  private started = 0;

  constructor(private readonly world: WorldParts) {
    const { scheduler, ledger, places, conditions, random } = world;
    this.hop = new ClientHop(scheduler, ledger, places);
    for (let index = 0; index < conditions.clients; index++) {
      const clock = new SimClock(scheduler, START + Math.round((random.fraction() - 0.5) * 2000));
      const place: ClientPlace = { index, clock, cutUntil: 0, process: undefined };
      this.places.push(place);
      scheduler.at(random.spread(10, 20_000), `start client ${index}`, () => this.start(place));
    }
  }

  inject(kind: ClientFaultKind, { process: index, ms, by }: Fault): void {
    const { scheduler, random } = this.world;
    const place = this.places[index];
    const process = place?.process;
    if (place === undefined || process === undefined) return;
    switch (kind) {
      case 'client crash':
      case 'client stop':
        if (kind === 'client stop') process.stop();
        process.crash();
        scheduler.at(scheduler.now + random.spread(10, 20_000), `start client ${index}`, () => this.start(place));
        break;
      case 'client pause':
        place.clock.freeze({ ms, suspended: false, step: 0 });
        break;
      case 'client clock step':
        place.clock.refresh();
        place.clock.step(by);
        break;
      case 'client cut off':
        place.cutUntil = Math.max(place.cutUntil, scheduler.now + ms);
        break;
    }
  }

  /** A server has written the record of a window. */
  wrote(writer: string, before: StoredWorker | undefined, after: StoredWorker): void {
    const { ledger, lossAt, scheduler } = this.world;
    ledger.wroteWindow(before, after, lossAt !== undefined);
    const { leaseId = '', ceiling: end } = after.record;
    // Registered again after all.
    if (end >= (this.latest.get(leaseId)?.end ?? 0) && this.missed.delete(leaseId)) this.exposeAll(leaseId, undefined);
    if (end >= (this.latest.get(leaseId)?.end ?? 0)) this.latest.set(leaseId, { name: writer, at: scheduler.now, end });
  }

  /**
   * Only the server that wrote the end of a window registers all of it again. Notes the windows of which that server
   * has ended or was kept from the registry until the grace ended, also those that no client has used yet.
   */
  floorWritten(loss: Loss): void {
    const { world } = this;
    const { lossAt, places } = world;
    if (lossAt === undefined) return;
    for (const [leaseId, { name, at }] of this.latest) {
      // Since the loss that it was missed in first, newcomers may have had its worker ID.
      if (at >= lossAt || this.missed.has(leaseId)) continue;
      const place = places.find(({ process }) => process?.name === name && process.alive);
      if (place !== undefined && !world.wasKept(place)) continue;
      this.missed.set(leaseId, loss);
      this.exposeAll(leaseId, loss);
    }
  }

  private exposeAll(leaseId: string, missed: Loss | undefined): void {
    for (const issuer of this.issuers) if (issuer.leaseId === leaseId) expose(issuer, { missed });
  }

  private start(place: ClientPlace): void {
    if (place.process?.alive === true) return;
    const { world, hop } = this;
    const onIssuer = (issuer: Issuer): void => {
      this.issuers.push(issuer);
      expose(issuer, { missed: this.missed.get(issuer.leaseId) });
    };
    place.process = new SimClient(
      `c${place.index}#${++this.started}`,
      world.random.bits(),
      place,
      world,
      hop,
      onIssuer,
    );
  }
}
