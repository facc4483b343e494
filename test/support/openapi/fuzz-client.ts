import { Agent } from 'node:http';
import { ADMIN_TOKEN } from '../http/admin';
import { type Answer, call } from '../http/http';
import { signedFor } from '../servers/cluster-rig';
import type { ApiContract } from './contract';
import { BODY_LIMIT, FuzzJudge } from './fuzz-judge';
import type { FuzzedRequest } from './requests';

/** The address that the server must advertise. */
export const FUZZED_SERVER = '127.0.0.1:8080';

/** Client addresses: failures of the second one must not limit the valid token. */
const [TRUSTED, GUESSING] = ['127.0.0.1', '127.0.0.2'];

/** Sends fuzzed requests over one connection for each address, and has each answer judged. */
export class FuzzClient {
  /** Answers by verb, operation and status. */
  readonly seen = new Map<string, number>();
  private readonly trusted = agentFrom(TRUSTED);
  private readonly guessing = agentFrom(GUESSING);
  private readonly judge: FuzzJudge;

  constructor(
    private readonly port: number,
    private readonly contract: ApiContract,
  ) {
    this.judge = new FuzzJudge(contract);
  }

  /**
   * @returns undefined when there was none, to a body that is too large
   * @throws Error when the answer is not one that the document promises for the request
   */
  async send(request: FuzzedRequest): Promise<Answer | undefined> {
    const answer = await this.answerTo(request);
    const what = `${request.method} ${request.operationId} ${answer?.status ?? 'closed'}`;
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
    const fault = answer === undefined ? undefined : this.judge.faultOf(request, answer);
    if (fault !== undefined) throw new Error(fault);
    return answer;
  }

  close(): void {
    this.trusted.destroy();
    this.guessing.destroy();
  }

  private async answerTo(request: FuzzedRequest): Promise<Answer | undefined> {
    const { operationId, method, body, token } = request;
    const url = this.urlOf(request);
    const isPeer = operationId === 'serverReport';
    const valid = isPeer ? signedFor(FUZZED_SERVER, method, url) : `Bearer ${ADMIN_TOKEN}`;
    const length = Buffer.byteLength(body?.text ?? '');
    const headers = {
      ...(token === 'none' ? {} : { authorization: token === 'valid' ? valid : 'Bearer guess' }),
      ...(body === undefined ? {} : { 'content-type': body.type, 'content-length': length }),
    };
    const sent = call(this.port, url, {
      method,
      headers,
      agent: token === 'valid' ? this.trusted : this.guessing,
      ...(body === undefined ? {} : { body: body.text }),
    });
    return sent.catch((error: unknown) => {
      // Who refuses a large body closes before all of it has come: the refusal may be lost with it.
      const { code } = error as { code?: string };
      if (length > BODY_LIMIT && (code === 'ECONNRESET' || code === 'EPIPE')) return undefined;
      throw error;
    });
  }

  private urlOf({ operationId, parameters, malformed }: FuzzedRequest): string {
    const route = this.contract.route(operationId);
    const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(parameters[name])));
    const query = (route.operation.parameters ?? [])
      .filter(({ name, in: where }) => where === 'query' && parameters[name] !== undefined)
      .flatMap(({ name }) => [parameters[name] ?? ''].flat().map((value) => `${name}=${encodeURIComponent(value)}`));
    return `${path}${malformed ? '%zz' : ''}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  }
}

function agentFrom(localAddress: string): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1, localAddress });
}
