import { type Clock, LeafError, NONCE_PARAMETER, type RandomSource, reasonOf } from '@leaf-ids/core';
import type { RequestPolicy } from '../servers/request-policy';
import type { Server } from '../servers/server';
import type { ServerChoice } from '../servers/server-choice';
import { ServerFault } from '../servers/server-fault';
import type { HttpAnswer } from './http-connection';
import { makeNonce } from './nonce';
import { refusalOf } from './refusal';
import type { Semaphore } from './semaphore';

/**
 * Asks for IDs. A request that got no answer, or a wrong one, goes to another server at once: that is always safe, the
 * IDs of a lost answer are a gap.
 */
export class Requester {
  constructor(
    private readonly servers: readonly Server[],
    private readonly choice: ServerChoice,
    private readonly gate: Semaphore,
    private readonly clock: Clock,
    private readonly random: RandomSource,
    private readonly closing: AbortSignal,
  ) {}

  /**
   * Asks one server after the other, each at most once.
   *
   * @param path with a query
   * @param read makes the answer of a JSON body, or throws a {@link ServerFault}
   * @throws LeafError what a server refuses that no other server would give; what all of them refuse;
   *   `LEAF_SERVERS_UNAVAILABLE` when one that does not answer now might give it
   */
  async get<T>(route: RequestPolicy, path: string, read: (body: unknown) => T): Promise<T> {
    await this.gate.enter();
    try {
      return await this.askAll(route, path, read);
    } finally {
      this.gate.leave();
    }
  }

  private async askAll<T>(route: RequestPolicy, path: string, read: (body: unknown) => T): Promise<T> {
    const tried = new Set<Server>();
    let server = this.choice.next(route, tried);
    for (; server !== undefined && !this.closing.aborted; server = this.choice.next(route, tried)) {
      tried.add(server);
      try {
        const value = await this.ask(server, path, read);
        route.release(server);
        return value;
      } catch (error) {
        if (!(error instanceof LeafError)) continue;
        if (isFinal(error)) throw error;
        route.backOff(server, error);
      }
    }
    throw this.unavailable(route);
  }

  private async ask<T>(server: Server, path: string, read: (body: unknown) => T): Promise<T> {
    const { health } = server;
    health.begin();
    server.outstanding++;
    server.requests++;
    try {
      const nonce = makeNonce(this.random);
      const answer = await server.connection.get(`${path}&${NONCE_PARAMETER}=${nonce}`);
      const value = this.read(answer, nonce, read);
      health.succeeded();
      return value;
    } catch (error) {
      if (error instanceof LeafError) health.succeeded();
      else if (this.closing.aborted) health.abandoned();
      else {
        server.failures++;
        health.failed(error, error instanceof ServerFault ? error.retryAfterMs : undefined);
      }
      throw error;
    } finally {
      server.outstanding--;
    }
  }

  private read<T>(answer: HttpAnswer, nonce: string, read: (body: unknown) => T): T {
    if (answer.status !== 200) throw refusalOf(answer, this.clock);
    // Servers of the previous version repeat none: an upgrade of one after the other goes on.
    if (answer.nonce !== undefined && answer.nonce !== nonce) {
      throw new ServerFault(
        'its answer is refused: it was made for another request. A cache or a proxy in between gives one answer to several clients; let it pass all requests to /api/ on, and keep no answer',
      );
    }
    let body: unknown;
    try {
      body = JSON.parse(answer.text);
    } catch (error) {
      throw new ServerFault('its answer is no JSON', undefined, { cause: error });
    }
    return read(body);
  }

  private unavailable(route: RequestPolicy): LeafError {
    const refusals = this.servers.map((server) => route.refusalOf(server));
    const refused = refusals.filter((refusal) => refusal !== undefined);
    // A pause of one server is none of the others': only what all of them say is final.
    const last = refused.find(({ retryable }) => retryable) ?? refused[0];
    if (last !== undefined && refused.length === refusals.length) return last;
    const causes = this.servers.map(({ url, health }, index) => {
      const reason = refusals[index] ?? health.lastError;
      return `${url}: ${reason === undefined ? 'busy with a first try after a failure' : reasonOf(reason)}`;
    });
    return new LeafError(
      'LEAF_SERVERS_UNAVAILABLE',
      `No Leaf server could be asked. It goes on by itself when one answers; check that they run and can be reached. ${causes.join('; ')}.`,
      { retryAfterMs: 1000 },
    );
  }
}

/** Whether every other server would say the same. */
function isFinal({ code, status }: LeafError): boolean {
  return status < 500 && status !== 429 && code !== 'LEAF_NOT_FOUND' && code !== 'LEAF_REQUEST_TIMEOUT';
}
