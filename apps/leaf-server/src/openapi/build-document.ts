import { type INestApplication, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { serverVersion } from '../config/version';
import { Components } from './components';
import { BEARER, type Operation, operationOf } from './operation';
import { Describe, GROUPS, NeedsToken, type RouteDescription } from './route-description';
import type { Schema } from './schema';

/** The document of OpenAPI, as far as this server uses it. */
export interface ApiDescription {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly description: string; readonly version: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>>; readonly securitySchemes: object };
}

const ABOUT = `Unique 64-bit IDs over HTTP. IDs are decimal strings, in text and in JSON. Every route that answers GET
answers HEAD likewise, without the body: on a route of IDs that takes an ID all the same. Any other path or verb is a 404.
Every fault is a problem document (RFC 9457) with a code; programs look at the code.`;

/**
 * Describes every route of `app`: Nest knows path and verb, the route's {@link Describe} the rest.
 *
 * The generator is loaded when it is needed: a start does not pay for what most servers are never asked.
 */
export async function buildDocument(app: INestApplication): Promise<ApiDescription> {
  const { DocumentBuilder, SwaggerModule } = await import('@nestjs/swagger');
  const components = new Components();
  const described = describedRoutes(app, components);
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Leaf')
    .setDescription(ABOUT.replaceAll('\n', ' '))
    .setVersion(serverVersion())
    .addServer('/', 'This server')
    .addSecurity(BEARER, { type: 'http', scheme: 'bearer', description: 'A token of `LEAF_ADMIN_TOKEN`.' });
  for (const [name, description] of Object.entries(GROUPS)) builder.addTag(name, description);
  const generated = SwaggerModule.createDocument(app, builder.build(), {
    operationIdFactory: routeKey,
    autoTagControllers: false,
  }) as unknown as ApiDescription;
  return {
    ...generated,
    paths: mapValues(generated.paths, (item) =>
      mapValues(item, (operation) => described.get(operation.operationId) ?? operation),
    ),
    components: { ...generated.components, schemas: components.schemas },
  };
}

/** What the routes of all controllers say of themselves, by {@link routeKey}. */
function describedRoutes(app: INestApplication, components: Components): Map<string, Operation> {
  const reflector = new Reflector();
  const scanner = new MetadataScanner();
  const operations = new Map<string, Operation>();
  for (const module of app.get(ModulesContainer).values()) {
    for (const { metatype } of module.controllers.values()) {
      const controller = metatype as (new () => object) & { readonly prototype: Record<string, () => unknown> };
      for (const name of scanner.getAllMethodNames(controller.prototype)) {
        const handler = controller.prototype[name] as () => unknown;
        const description = reflector.get<RouteDescription | undefined>(Describe.KEY, handler);
        if (description === undefined) continue;
        const verb = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod;
        const admin = reflector.getAllAndOverride<true | undefined>(NeedsToken.KEY, [handler, controller]) === true;
        const access = { method: RequestMethod[verb].toLowerCase(), admin };
        operations.set(routeKey(controller.name, name), operationOf(description, access, components));
      }
    }
  }
  return operations;
}

function routeKey(controller: string, method: string): string {
  return `${controller}.${method}`;
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
