import type { Type } from '@nestjs/common';
import type * as Swagger from '@nestjs/swagger';

/*
 * The decorators of @nestjs/swagger, with the same names and options. They are recorded and only applied when the
 * document is first requested: loading the library at startup costs each process 20 MB and 0.3 s of CPU time.
 */

type Api = typeof Swagger;
type AnyDecorator = (target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => unknown;
type Application = (api: Api) => Promise<void>;

const RECORDED = Symbol('recorded decorators');
const APPLIED = Symbol('application of the recorded decorators');

/** Applies the decorators recorded on a class and its base classes, once. */
export async function applyRecorded(target: object, api: Api): Promise<void> {
  if (!Reflect.hasMetadata(RECORDED, target)) return;
  await applyRecorded(Object.getPrototypeOf(target) as object, api);
  let applied = Reflect.getOwnMetadata(APPLIED, target) as Promise<void> | undefined;
  if (applied === undefined) {
    applied = applyAll(recordedOn(target), api);
    Reflect.defineMetadata(APPLIED, applied, target);
  }
  await applied;
}

async function applyAll(applications: readonly Application[], api: Api): Promise<void> {
  for (const apply of applications) await apply(api);
}

function recordedOn(target: object): readonly Application[] {
  return (Reflect.getOwnMetadata(RECORDED, target) ?? []) as Application[];
}

/** Records the decorator that `make` returns. When applied, the decorators of its `type` class are applied first. */
function record<T>(make: (api: Api, type: T) => unknown, typeOf: () => T | Promise<T>): AnyDecorator {
  return (target, key, descriptor) => {
    const owner = typeof target === 'function' ? target : target.constructor;
    const apply: Application = async (api) => {
      const type = await typeOf();
      const declared: unknown = key === undefined ? undefined : Reflect.getMetadata('design:type', target, key);
      for (const each of [type ?? declared].flat()) if (typeof each === 'function') await applyRecorded(each, api);
      (make(api, type) as AnyDecorator)(target, key, descriptor);
    };
    Reflect.defineMetadata(RECORDED, [...recordedOn(owner), apply], owner);
  };
}

type Name =
  | 'ApiBearerAuth'
  | 'ApiExtension'
  | 'ApiOperation'
  | 'ApiParam'
  | 'ApiProperty'
  | 'ApiPropertyOptional'
  | 'ApiQuery'
  | 'ApiResponse'
  | 'ApiTags';

function recorded<N extends Name>(name: N): Api[N] {
  const decorator = (...options: readonly [{ readonly type?: unknown }?]): AnyDecorator =>
    record(
      (api) => (api[name] as (...options: unknown[]) => unknown)(...options),
      () => options[0]?.type,
    );
  return decorator as unknown as Api[N];
}

export const ApiBearerAuth = recorded('ApiBearerAuth');
export const ApiExtension = recorded('ApiExtension');
export const ApiOperation = recorded('ApiOperation');
export const ApiParam = recorded('ApiParam');
export const ApiProperty = recorded('ApiProperty');
export const ApiPropertyOptional = recorded('ApiPropertyOptional');
export const ApiQuery = recorded('ApiQuery');
export const ApiResponse = recorded('ApiResponse');
export const ApiTags = recorded('ApiTags');

/** Unlike the decorator of @nestjs/swagger, accepts any schema keyword. */
export function ApiSchema(options: Swagger.SchemaObject & { readonly name?: string }): ClassDecorator {
  return record(
    (api) => api.ApiSchema(options),
    () => undefined,
  ) as ClassDecorator;
}

/** A JSON body. Its class is loaded with the document or the first body, because class-validator also uses memory. */
export function ApiJsonBody(load: () => Promise<Type>): MethodDecorator {
  return record((api, type) => api.ApiBody({ type }), load) as MethodDecorator;
}
