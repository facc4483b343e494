import { Inject, Injectable, type INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { serverVersion } from '../config/version';
import { applyRecorded } from './decorators';
import { describeProblems, ProblemDocument } from './problems';

/** The tags of the OpenAPI document, in the order of the documentation. */
const GROUPS = {
  'Segment IDs': 'Numbers that a database allocates for each tag. They ascend on each server.',
  Numbers: 'One number for each document, without gaps: the same document gets the same number, however often it asks.',
  'Snowflake IDs':
    'Numbers composed of time, worker ID and sequence. They are roughly ordered by time and need no database.',
  'Worker windows':
    'Worker IDs for processes that issue snowflake IDs themselves; they require a token of `LEAF_WORKER_TOKENS`.',
  Tags: 'The rows of `leaf_alloc`. Changes require a token; reads do not.',
  'This server': 'Commands that affect only the server that receives them.',
  'The cluster': 'All servers in the worker registry, as one of them sees them.',
  Watching: 'Health probes, metrics, monitoring data and the clock.',
  'Java service': 'Routes with the paths of the Java service.',
  Console: 'The web console, which uses the routes above.',
  Documentation: 'This document and its page.',
};

const ABOUT = `Unique 64-bit IDs over HTTP. IDs are decimal strings, in text and in JSON. Every GET route also accepts HEAD
and omits the body; HEAD on an ID route consumes an ID. Any other path returns 404, any other method 405. Every error is a
problem document (RFC 9457) with a code. Programs should test the code.`;

/** The OpenAPI document of this server, built on the first request. */
@Injectable()
export class ApiDocument {
  private application: INestApplication | undefined;
  private built: Promise<OpenAPIObject> | undefined;

  constructor(@Inject(LEAF_CONFIG) private readonly config: LeafConfig) {}

  /** Call once, before the server listens. */
  describe(application: INestApplication): void {
    this.application = application;
  }

  get(): Promise<OpenAPIObject> {
    this.built ??= this.build();
    return this.built;
  }

  private async build(): Promise<OpenAPIObject> {
    if (this.application === undefined) throw new Error('ApiDocument has no application. Call describe() first.');
    const api = await import('@nestjs/swagger');
    for (const { controllers } of this.application.get(ModulesContainer).values()) {
      for (const { metatype } of controllers.values()) if (metatype !== null) await applyRecorded(metatype, api);
    }
    await applyRecorded(ProblemDocument, api);
    const { clients } = this.config;
    const variables =
      clients === undefined ? '`LEAF_ADMIN_TOKEN`' : '`LEAF_ADMIN_TOKEN`, or to take IDs, of `LEAF_CLIENT_TOKENS`';
    const builder = new api.DocumentBuilder()
      .setOpenAPIVersion('3.0.3')
      .setTitle('Leaf')
      .setDescription(ABOUT.replaceAll('\n', ' '))
      .setVersion(serverVersion())
      .addServer(this.config.publicPath || '/', 'This server')
      .addSecurity('bearer', { type: 'http', scheme: 'bearer', description: `A token of ${variables}.` });
    if (clients !== undefined) {
      const description = 'A token of `LEAF_CLIENT_TOKENS` as the password; any user name.';
      builder.addSecurity('basic', { type: 'http', scheme: 'basic', description });
    }
    for (const [name, description] of Object.entries(GROUPS)) builder.addTag(name, description);
    const options = { autoTagControllers: false, extraModels: [ProblemDocument] };
    const document = api.SwaggerModule.createDocument(this.application, builder.build(), options);
    describeProblems(document, clients !== undefined);
    return document;
  }
}
