import type { LeafError } from '@leaf-ids/core';
import { windowOf } from '@leaf-ids/core/internal';
import { sinceStart } from './conditions';
import type { SimPlace, WorldParts } from './places';
import type { SimProcess } from './sim-process';

/**
 * Checks that every server issues within a bound after the last fault that affects it. A fault affects its host; a
 * fault of the registry affects all; a wrong clock also affects servers that are acquiring, since they compare clocks
 * with it.
 */
export class Liveness {
  constructor(private readonly world: WorldParts) {}

  asked(place: SimPlace, process: SimProcess, refusal: LeafError | undefined): void {
    const { scheduler, tally, ledger } = this.world;
    if (refusal === undefined) {
      place.servedAt = scheduler.now;
    } else {
      if (place.askedAt > process.startedAt) tally.outageSeconds += (scheduler.now - place.askedAt) / 1000;
      if (refusal.code === 'LEAF_LEASE_LOST' && process.lost === refusal && !this.mayLose(place, process)) {
        ledger.breach('lost', `${process.name}: ${refusal.message}`);
      }
      this.check(place, refusal);
      this.checkTwin(place, process);
    }
    place.askedAt = scheduler.now;
    this.checkCeiling(place, process);
  }

  check(place: SimPlace, refusal: LeafError | undefined): void {
    const { scheduler, conditions, ledger } = this.world;
    const since = Math.max(place.servedAt, place.touchedUntil);
    const ms = scheduler.now - since;
    if (ms <= conditions.boundMs + 2 * conditions.askMs) return;
    if (this.isWrongNearby(place) || this.mayRefuse(place, refusal)) return;
    ledger.breach(
      'outage',
      `${place.name} has issued nothing for ${Math.round(ms)} ms without a reason: ${refusal?.message}`,
    );
  }

  /**
   * R10: at the end of a world, the servers have freed all that was abandoned, even if the one that had the turn has
   * gone.
   *
   * @param writtenAt true milliseconds at which each worker was written last
   */
  checkAbandoned(writtenAt: ReadonlyMap<number, number>): void {
    const { conditions, scheduler, server, places, ledger } = this.world;
    const { strategy, history, leaseTtlMs, reportMs, timeoutMs, faultyMs } = conditions;
    const running = places.flatMap(({ process }) => (process?.alive === true ? [process.startedAt] : []));
    if (strategy !== 'pool' || history || running.length === 0) return;
    const calmSince = Math.max(faultyMs, Math.min(...running), ...places.map(({ touchedUntil }) => touchedUntil));
    // Half the lease TTL until the turn is overdue, a quarter until a server looks, the lease TTL, and a quarter again.
    const longestMs = 2.5 * leaseTtlMs + 6 * reportMs + 2 * timeoutMs;
    for (const { workerId, record } of server.list()) {
      const ms = scheduler.now - Math.max(calmSince, writtenAt.get(workerId) ?? 0);
      if (record.free || windowOf(record) !== undefined || ms <= longestMs) continue;
      ledger.breach('abandoned', `worker ${workerId} of ${record.leaseId} is in use after ${Math.round(ms)} ms`);
    }
  }

  /** R8: a newcomer beside a twin is refused, or serves. */
  private checkTwin({ host, touchedUntil, machine }: SimPlace, { name, startedAt, issuer }: SimProcess): void {
    const { scheduler, conditions, ledger, hosts } = this.world;
    if (!conditions.twins || host > 1 || issuer !== undefined || machine.ahead > 0) return;
    if (scheduler.now - Math.max(touchedUntil, startedAt) < conditions.boundMs / 2) return;
    if (hosts.some(({ isWrong, ahead }) => isWrong || ahead > 0)) return;
    ledger.breach('waits beside a twin', `${name} has waited since ${Math.round(startedAt)} ms`);
  }

  /** R9: the next reports of a holder lower a reservation that is too far ahead. */
  private checkCeiling(place: SimPlace, { name, leaseId, issuer, discarded, snapshot }: SimProcess): void {
    const { scheduler, conditions, ledger, server, places } = this.world;
    if (issuer === undefined || snapshot.workerId === undefined || conditions.strategy === 'local') return;
    // After a loss of history, every server that wrote windows of clients raises ceilings, once it is back.
    const writers = conditions.clients > 0 ? places : [place];
    const quiet = scheduler.now - Math.max(...writers.map(({ touchedUntil }) => touchedUntil), issuer.acquiredAt);
    if (quiet < 5 * conditions.reportMs || place.machine.isWrong) return;
    const record = server.read(issuer.workerId)?.record;
    if (record?.leaseId !== leaseId) return;
    const issued = Math.max(discarded, ledger.highestOf(name, issuer.workerId));
    const least = Math.max(issuer.floor, ledger.replacedBy(name, issuer.workerId));
    const most = Math.max(issued, least, place.clock.shown + conditions.leaseTtlMs);
    // A node of the Java service has an odd ceiling while its worker is held.
    if (record.ceiling <= most + 1) return;
    ledger.breach(
      'high ceiling',
      `${name} keeps ${sinceStart(record.ceiling)}, and may reserve up to ${sinceStart(most)}`,
    );
  }

  /** A twin exists, its data directory was exchanged, or a write to an earlier node has replaced its record. */
  private mayLose({ host, tampered }: SimPlace, { leaseId }: SimProcess): boolean {
    const { conditions, places, overwritten } = this.world;
    if (overwritten.has(leaseId)) return true;
    return (conditions.twins && host <= 1) || tampered || places.some((place) => place.tampered);
  }

  /** Without the document, and without a holder that writes it again, newcomers wait until all records have expired. */
  private hasNoDocument(now: number): boolean {
    const { conditions, server, places } = this.world;
    if (server.document !== undefined) return false;
    if (places.some(({ process }) => process?.alive && process.snapshot.workerId !== undefined)) return false;
    return server.list().some(({ record }) => record.ceiling + conditions.limits.clockOffsetMs >= now);
  }

  private isWrongNearby({ machine, process }: SimPlace): boolean {
    if (machine.isWrong) return true;
    return process?.issuer === undefined && this.world.hosts.some(({ isWrong }) => isWrong);
  }

  private mayRefuse({ host, clock, machine, process, askedAt }: SimPlace, refusal: LeafError | undefined): boolean {
    const { conditions, hosts, floor, scheduler } = this.world;
    if (conditions.twins && host <= 1) return true;
    if (conditions.layouts) return true;
    if (process?.lost !== undefined) return true;
    // The floor was written while no other server was up to compare clocks with.
    if (process?.issuer === undefined && clock.shown - conditions.boundMs <= floor) return true;
    // It has issued or reserved times in the future.
    const reserved = conditions.leaseTtlMs + conditions.maxClockOffsetMs;
    // Without a refusal, at the end of a world: what counts is whether it may have refused when it was asked last.
    const shown = refusal === undefined ? clock.shown - (scheduler.now - askedAt) : clock.shown;
    if (machine.ahead > 0 && shown <= machine.ahead + reserved) return true;
    if (process?.issuer === undefined && this.hasNoDocument(shown)) return true;
    // In a pool, a server whose clock was ahead leaves records that nobody can take yet.
    const left = hosts.some(({ ahead }) => ahead > 0 && shown <= ahead + reserved);
    return conditions.strategy === 'pool' && left && refusal?.code === 'LEAF_WORKERS_USED_UP';
  }
}
