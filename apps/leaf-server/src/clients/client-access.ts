import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, LeafError } from '@leaf-ids/core';
import { ANY, type ClientRule, type ClientRules } from '../config/tokens';
import { FailureLimit, TokenCheck } from '../tokens/token-check';
import { type AdminTokens, bearerOf, type KnownToken, passwordOf, type TokenSet } from '../tokens/token-set';

/** One call takes at most what the quota grants in this time. */
const MAX_ADVANCE_S = 60;

/**
 * A token bucket that holds the IDs of one second. A call passes while at least one ID is left; a larger call takes the
 * rest in advance, and the next call waits until it is granted. Without this, a client that prefetches the IDs of
 * several seconds could never be served.
 */
export class IdQuota {
  /** IDs left; negative if some were taken in advance. */
  private level: number;
  /** Monotonic time of `level`. */
  private at: number;

  /** @param idsPerSecond Infinity: no limit */
  constructor(
    private readonly idsPerSecond: number,
    private readonly clock: Clock,
  ) {
    this.level = idsPerSecond;
    this.at = clock.monotonic();
  }

  /** Maximum number of IDs in one call. */
  get maxCount(): number {
    return this.idsPerSecond * MAX_ADVANCE_S;
  }

  /** Takes `count` IDs if the quota allows it. */
  take(count: number): boolean {
    if (count > this.maxCount || this.waitMs() > 0) return false;
    this.level -= count;
    return true;
  }

  /** Returns IDs that were taken and not issued. */
  giveBack(count: number): void {
    this.level = Math.min(this.idsPerSecond, this.level + count);
  }

  /** Milliseconds until the next call passes; 0 if it passes now. */
  waitMs(): number {
    if (this.idsPerSecond === Infinity) return 0;
    // Also when it is full: otherwise the time for which it was full would fill it once more.
    const now = this.clock.monotonic();
    this.level = Math.min(this.idsPerSecond, this.level + ((now - this.at) / 1000) * this.idsPerSecond);
    this.at = now;
    return this.level >= 1 ? 0 : ((1 - this.level) / this.idsPerSecond) * 1000;
  }
}

/** A program that takes IDs, by the name of its token, whatever the token is. */
class Client {
  /** Set by an operator. */
  blocked = false;
  private readonly quotas: ReadonlyMap<string, IdQuota>;

  constructor(
    readonly name: string,
    { tags, idsPerSecond = Infinity }: ClientRule,
    clock: Clock,
  ) {
    this.quotas = new Map(tags.map((tag) => [tag, new IdQuota(idsPerSecond, clock)]));
  }

  /** The quota of a tag or snowflake key; undefined if the client may not use it. */
  quotaOf(tag: string): IdQuota | undefined {
    return this.quotas.get(tag) ?? this.quotas.get(ANY);
  }

  /**
   * Charges the quota of `tag` for `count` IDs; 0 only checks that the client may use the tag.
   *
   * @throws LeafError `LEAF_FORBIDDEN`, `LEAF_QUOTA_EXCEEDED`
   */
  charge(tag: string, count: number): IdQuota {
    const { name } = this;
    const quota = this.quotaOf(tag);
    if (quota === undefined) {
      throw new LeafError(
        'LEAF_FORBIDDEN',
        `"${name}" may not take IDs of this tag. LEAF_CLIENT_QUOTAS lists its tags.`,
      );
    }
    if (count === 0 || quota.take(count)) return quota;
    const most = quota.maxCount;
    if (count > most) {
      throw new LeafError('LEAF_QUOTA_EXCEEDED', `The quota of "${name}" allows at most ${most} IDs in one call.`);
    }
    const retryAfterMs = Math.ceil(quota.waitMs());
    throw new LeafError(
      'LEAF_QUOTA_EXCEEDED',
      `"${name}" has used up its quota of this tag. The quota grants the next ID in ${retryAfterMs} ms.`,
      { retryAfterMs },
    );
  }
}

/** Accepted `Authorization` headers in memory; beyond that the oldest is dropped. */
const MAX_ACCEPTED = 1024;
const UNLIMITED: ClientRule = { tags: [ANY] };
const RULE = {
  needed:
    'Taking IDs requires the header "Authorization: Bearer <token>" with a token of LEAF_CLIENT_TOKENS that has not expired.',
  // A request without a token guesses nothing.
  countsMissing: false,
};

const CONNECTION_RULE = {
  needed:
    'Taking IDs requires the command "AUTH <token>" with a token of LEAF_CLIENT_TOKENS that has not expired, once for each connection.',
  countsMissing: false,
};

/** A token that was valid, and who it belongs to. */
export interface Accepted {
  readonly token: KnownToken;
  readonly client: Client;
}

interface ClientAccessOptions {
  /** False: taking IDs requires no token. */
  readonly enabled: boolean;
  readonly rules: ClientRules;
  readonly clients: TokenSet;
  /** They also take IDs, without a quota. */
  readonly admins: AdminTokens;
}

/** Decides who may take IDs, of which tags and how many. */
export class ClientAccess {
  /** Accepted headers; comparing digests for each request would cost as much as an ID. */
  private readonly accepted = new Map<string, Accepted>();
  private readonly clients = new Map<string, Client>();
  private readonly admin: Client;
  /** Of calls that need no token. */
  private readonly unlimited: IdQuota;
  private readonly check: TokenCheck;
  private readonly connectionCheck: TokenCheck;

  constructor(
    private readonly options: ClientAccessOptions,
    private readonly clock: Clock,
  ) {
    this.admin = new Client('admin', UNLIMITED, clock);
    this.unlimited = new IdQuota(Infinity, clock);
    const failures = new FailureLimit(clock);
    this.check = new TokenCheck(RULE, failures);
    this.connectionCheck = new TokenCheck(CONNECTION_RULE, failures);
  }

  /**
   * Charges the quota for `count` IDs ahead of the framework. Undefined if the request needs more than a lookup or is
   * refused: {@link identify} and {@link Client.charge} then decide.
   *
   * @param authorization the header of that name
   */
  tryCharge(authorization: string | undefined, tag: string, count: number): IdQuota | undefined {
    if (!this.options.enabled) return this.unlimited;
    if (authorization === undefined) return undefined;
    const client = this.clientOf(this.accepted.get(authorization));
    const quota = client?.blocked === false ? client.quotaOf(tag) : undefined;
    return quota?.take(count) === true ? quota : undefined;
  }

  /**
   * The client whose token the request has.
   *
   * @throws LeafError `LEAF_UNAUTHORIZED`, `LEAF_TOO_MANY_FAILURES`; `LEAF_FORBIDDEN` if the client is blocked
   */
  identify(request: FastifyRequest, reply: FastifyReply): Client {
    return admitted(this.check.require(request, reply, (authorization) => this.find(authorization)));
  }

  /**
   * Checks the token of a connection that is not HTTP.
   *
   * @param action the command, for the log
   * @throws LeafError as {@link identify}
   */
  authenticate(token: string, address: string, action: string): Accepted {
    const accepted = this.connectionCheck.requireOf({ address, action, given: token }, () => this.findToken(token));
    admitted(accepted.client);
    return accepted;
  }

  /**
   * Charges the quota of a connection's client for `count` IDs.
   *
   * @param accepted what {@link authenticate} returned; undefined if the connection has sent no token
   * @throws LeafError as {@link identify} and {@link Client.charge}
   */
  charge(accepted: Accepted | undefined, tag: string, count: number): IdQuota {
    if (!this.options.enabled) return this.unlimited;
    const client = this.clientOf(accepted);
    if (client === undefined) throw this.connectionCheck.refusal();
    return admitted(client).charge(tag, count);
  }

  get enabled(): boolean {
    return this.options.enabled;
  }

  /** Names of the clients that have a token. */
  get names(): readonly string[] {
    return this.options.clients.names;
  }

  get blockedNames(): readonly string[] {
    return [...this.clients.values()].flatMap(({ name, blocked }) => (blocked ? [name] : []));
  }

  /** Refuses or admits the requests of a client, also of one whose token is added later. */
  setBlocked(name: string, blocked: boolean): void {
    this.named(name).blocked = blocked;
  }

  private find(authorization = ''): Client | undefined {
    const known = this.clientOf(this.accepted.get(authorization));
    if (known !== undefined) return known;
    const accepted = this.findToken(bearerOf(authorization) || passwordOf(authorization));
    return accepted && this.accept(authorization, accepted);
  }

  private findToken(text: string): Accepted | undefined {
    const token = this.options.clients.find(text);
    const adminToken = this.options.admins.find(text);
    if (token !== undefined) return { token, client: this.named(token.name) };
    return adminToken && { token: adminToken, client: this.admin };
  }

  private accept(authorization: string, accepted: Accepted): Client {
    this.accepted.delete(authorization);
    for (const oldest of this.accepted.keys()) {
      if (this.accepted.size < MAX_ACCEPTED) break;
      this.accepted.delete(oldest);
    }
    this.accepted.set(authorization, accepted);
    return accepted.client;
  }

  private clientOf(accepted: Accepted | undefined): Client | undefined {
    return accepted !== undefined && this.options.clients.isValid(accepted.token) ? accepted.client : undefined;
  }

  private named(name: string): Client {
    let client = this.clients.get(name);
    if (client === undefined) {
      const { rules } = this.options;
      const rule = Object.hasOwn(rules, name) ? rules[name] : rules[ANY];
      client = new Client(name, rule ?? UNLIMITED, this.clock);
      this.clients.set(name, client);
    }
    return client;
  }
}

/** @throws LeafError `LEAF_FORBIDDEN` if the client is blocked */
function admitted(client: Client): Client {
  if (!client.blocked) return client;
  throw new LeafError(
    'LEAF_FORBIDDEN',
    `An operator has blocked "${client.name}" on this server; DELETE /api/server/clients/${client.name}/block undoes it.`,
  );
}
