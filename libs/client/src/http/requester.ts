import { type Clock, LeafError, type LeafErrorCode, type RandomSource } from '@leaf-ids/core';
import { NONCE_PARAMETER, reasonOf, type Semaphore } from '@leaf-ids/core/internal';
import type { Server } from '../servers/server';
import type { RequestPolicy, ServerChoice } from '../servers/server-choice';
import { ServerFault } from '../servers/server-health';
import type { HttpAnswer, HttpRequest } from './http-connection';
import { refusalOf } from './answers';

/**
 * Sends requests. A request without a valid response goes to another server at once. This is always safe: the IDs of a
 * lost response become a gap, and requests with a body are idempotent.
 */
export class Requester {
  constructor(
    private readonly servers: readonly Server[],
    private readonly choice: ServerChoice,
    private readonly semaphore: Semaphore,
    private readonly clock: Clock,
    private readonly random: RandomSource,
    private readonly closing: AbortSignal,
  ) {}

  /**
   * Requests IDs. Tries the servers one after the other, each at most once.
   *
   * @param path path with a query string
   * @param read parses the JSON body, or throws a {@link ServerFault}
   * @throws LeafError a refusal that every server would repeat; the refusal of all servers; or
   *   `LEAF_SERVERS_UNAVAILABLE` when a server that does not respond now might serve the request
   */
  get<T>(policy: RequestPolicy, path: string, read: (body: unknown) => T): Promise<T> {
    return this.askAll(policy, async ({ connection }) => {
      const nonce = makeNonce(this.random);
      const answer = await connection.send({ path: `${path}&${NONCE_PARAMETER}=${nonce}` });
      this.assertStatus(answer, 200);
      // Servers of the previous version return no nonce: accept them during a rolling upgrade.
      if (answer.nonce !== undefined && answer.nonce !== nonce) {
        throw new ServerFault(
          'invalid response: it belongs to another request. A cache or proxy returns one response to several clients; configure it to forward every request to /api/ and to cache no response',
        );
      }
      return read(parse(answer));
    });
  }

  /**
   * Sends a request that is idempotent, as {@link get}.
   *
   * @param read parses the JSON body, which is undefined in a response without one
   * @throws LeafError as {@link get}
   */
  send<T>(policy: RequestPolicy, request: HttpRequest, read: (body: unknown) => T): Promise<T> {
    return this.askAll(policy, async ({ connection }) => {
      const answer = await connection.send(request);
      this.assertStatus(answer, 200, 201, 204);
      return read(answer.status === 204 ? undefined : parse(answer));
    });
  }

  private async askAll<T>(policy: RequestPolicy, ask: (server: Server) => Promise<T>): Promise<T> {
    await this.semaphore.enter();
    try {
      return await this.askInTurn(policy, ask);
    } finally {
      this.semaphore.leave();
    }
  }

  private async askInTurn<T>(policy: RequestPolicy, ask: (server: Server) => Promise<T>): Promise<T> {
    const tried = new Set<Server>();
    let server = this.choice.next(policy, tried);
    for (; server !== undefined && !this.closing.aborted; server = this.choice.next(policy, tried)) {
      tried.add(server);
      try {
        const value = await this.askOne(server, ask);
        policy.release(server);
        return value;
      } catch (error) {
        if (!(error instanceof LeafError)) continue;
        if (isFinal(error)) throw error;
        policy.backOff(server, error);
      }
    }
    throw this.unavailable(policy);
  }

  private async askOne<T>(server: Server, ask: (server: Server) => Promise<T>): Promise<T> {
    const { health } = server;
    health.begin();
    server.outstanding++;
    server.requests++;
    try {
      const value = await ask(server);
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

  private assertStatus(answer: HttpAnswer, ...expected: readonly number[]): void {
    if (!expected.includes(answer.status)) throw refusalOf(answer, this.clock);
  }

  private unavailable(policy: RequestPolicy): LeafError {
    const refusals = this.servers.map((server) => policy.refusalOf(server));
    const refused = refusals.filter((refusal) => refusal !== undefined);
    // A refusal is final only if all servers refuse.
    const last = refused.find(({ retryable }) => retryable) ?? refused[0];
    if (last !== undefined && refused.length === refusals.length) return last;
    const causes = this.servers.map(({ url, health }, index) => {
      const reason = refusals[index] ?? health.lastError;
      return `${url}: ${reason === undefined ? 'a probe after a failure is in progress' : reasonOf(reason)}`;
    });
    return new LeafError(
      'LEAF_SERVERS_UNAVAILABLE',
      `No Leaf server is available. The client recovers by itself; check that the servers are up and reachable. ${causes.join('; ')}.`,
      { retryAfterMs: 1000 },
    );
  }
}

function parse({ text }: HttpAnswer): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ServerFault('invalid response: it is not JSON', undefined, { cause: error });
  }
}

/** Refusals below 500 that another server may not repeat: it may have another range of worker IDs. */
const OF_ONE_SERVER: readonly LeafErrorCode[] = ['LEAF_NOT_FOUND', 'LEAF_REQUEST_TIMEOUT', 'LEAF_WORKERS_USED_UP'];

/** Whether every other server would respond with the same refusal. */
function isFinal({ code, status }: LeafError): boolean {
  return status < 500 && status !== 429 && !OF_ONE_SERVER.includes(code);
}

/** 128 random bits, unique over all requests of all clients. */
function makeNonce(random: RandomSource): string {
  const parts = Array.from({ length: 4 }, () => random(2 ** 32));
  return parts.map((part) => part.toString(16).padStart(8, '0')).join('');
}
