import type { Answer } from '../http/http';
import { problemCode } from '../http/problem';
import type { ApiContract, ApiRoute } from './contract';
import type { FuzzedRequest } from './requests';

export const BODY_LIMIT = 65_536;
/** What a path or a verb that the document does not have is answered with; tokens are checked before the path is. */
const OUTSIDE = [400, 401, 403, 404, 405, 413, 414, 415, 429];
/** What is said of a request that is not as the document asks. */
const REFUSALS = [400, 401, 413, 414, 415, 429];
/** Of `/docs/`, which is the path of a file without a name. */
const PAGE_REDIRECT = 308;

/** Says whether an answer is one that the document promises for the request. */
export class FuzzJudge {
  constructor(private readonly contract: ApiContract) {}

  /** What is wrong with the answer, in words; undefined when nothing is. */
  faultOf(request: FuzzedRequest, answer: Answer): string | undefined {
    const { status } = answer;
    const told = `${status} ${answer.body.slice(0, 500)}`;
    if (status >= 500 && status !== 501 && status !== 503) return `A fault of the server: ${told}`;
    const route = this.contract.route(request.operationId);
    const asked = this.askedOf(route, request);
    if (asked === undefined) {
      if (request.method !== 'HEAD' && status >= 400) problemCode(answer);
      const isPage = request.operationId === 'docsFile' && status === PAGE_REDIRECT;
      return isPage || OUTSIDE.includes(status) ? undefined : `Outside the document: ${told}`;
    }
    const broken = this.contract.faultOf(asked, answer, request.method === 'HEAD');
    if (broken !== undefined || asked !== route) return broken;
    const wrong = this.wrongPart(route, request);
    if (wrong !== undefined) return status < 300 ? `${wrong}, and it was answered ${told}` : undefined;
    // A body that no operation asks for is read all the same, and may be none.
    const sure = request.body === undefined || route.operation.requestBody !== undefined;
    if (isContradiction(request, answer)) return undefined;
    return sure && REFUSALS.includes(status) ? `All is as documented, and it was answered ${told}` : undefined;
  }

  /** The operation that answers: another one when the verb was changed; undefined when there is none. */
  private askedOf(route: ApiRoute, { method, parameters }: FuzzedRequest): ApiRoute | undefined {
    const inPath = (route.operation.parameters ?? []).filter(({ in: where }) => where === 'path');
    if (inPath.some(({ name }) => parameters[name] === '')) return undefined;
    const verb = method === 'HEAD' ? 'GET' : method;
    return this.contract.routes.find((each) => each.path === route.path && each.method === verb);
  }

  /** What of the request is not as the document asks; undefined when all is. */
  private wrongPart(
    { operation }: ApiRoute,
    { parameters, malformed, body, token }: FuzzedRequest,
  ): string | undefined {
    if (malformed) return 'The path is malformed';
    if (operation.security !== undefined && token !== 'valid') return 'There is no valid token';
    for (const { name, required, schema } of operation.parameters ?? []) {
      const value = parameters[name];
      const fault = value === undefined ? undefined : this.contract.mismatch(schema, typed(value, schema.type));
      if (fault !== undefined || (value === undefined && required)) return `The parameter ${name} is wrong`;
    }
    const schema = operation.requestBody?.content['application/json']?.schema;
    if (schema === undefined) return undefined;
    const json = body?.type.startsWith('application/json') === true && Buffer.byteLength(body.text) <= BODY_LIMIT;
    const value = json ? parsed(body.text) : undefined;
    return value === undefined || this.contract.mismatch(schema, value) !== undefined ? 'The body is wrong' : undefined;
  }
}

/** Properties that do not go together, with each other or with what exists: no schema says so. */
function isContradiction({ operationId, parameters }: FuzzedRequest, { status, body }: Answer): boolean {
  if (status !== 400) return false;
  if (operationId === 'orderCluster') return /needs a tag|takes no tag|to confirm it/.test(body);
  if (operationId === 'takePeriodNumbers') return parameters.format !== undefined;
  // The form of a period depends on the tag.
  if (['auditNumbers', 'listNumbers', 'continueTag'].includes(operationId)) {
    return /LEAF_PERIOD_INVALID|"after" must be|lastNumber/.test(body);
  }
  return ['createTag', 'changeTag'].includes(operationId) && body.includes('The tag cannot be stored');
}

/** As a query says it: a whole number is written in one way only. */
function typed(value: string | readonly string[], type: string | undefined): unknown {
  return type === 'integer' && typeof value === 'string' && /^(0|-?[1-9]\d*)$/.test(value) ? Number(value) : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
