import { Inject, Injectable, type INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { serverVersion } from '../config/version';
import { applyRecorded } from './decorators';
import { describeProblems, ProblemDocument } from './problems';

/** What belongs together, in the order of the documentation. */
const GROUPS = {
  'Segment IDs': 'Numbers that the database counts for each tag: ascending within one server.',
  'Snowflake IDs': 'Numbers made of clock, worker ID and sequence: roughly ascending by time, without a database.',
  Tags: 'The rows of `leaf_alloc`. Reading needs no token, changing does.',
  'This server': 'Orders to the server that is asked, not to those beside it.',
  Watching: 'Probes, figures and clock.',
  'Java service': 'Routes that users of the Java service have bookmarked.',
  Console: 'The web console: a page that asks the routes above.',
  Documentation: 'This description.',
};

const ABOUT = `Unique 64-bit IDs over HTTP. IDs are decimal strings, in text and in JSON. Every route that answers GET
answers HEAD likewise, without the body: on a route of IDs that takes an ID all the same. Any other path is a 404, any other method a 405.
Every fault is a problem document (RFC 9457) with a code; programs look at the code.`;

/** The description of this server's API, made at the first request for it. */
@Injectable()
export class ApiDocument {
  private application: INestApplication | undefined;
  private built: Promise<OpenAPIObject> | undefined;

  constructor(@Inject(LEAF_CONFIG) private readonly config: LeafConfig) {}

  /** To be called once, before the server listens. */
  describe(application: INestApplication): void {
    this.application = application;
  }

  get(): Promise<OpenAPIObject> {
    this.built ??= this.build();
    return this.built;
  }

  private async build(): Promise<OpenAPIObject> {
    if (this.application === undefined) throw new Error('ApiDocument has no application to describe.');
    const api = await import('@nestjs/swagger');
    for (const { controllers } of this.application.get(ModulesContainer).values()) {
      for (const { metatype } of controllers.values()) if (metatype !== null) await applyRecorded(metatype, api);
    }
    await applyRecorded(ProblemDocument, api);
    const builder = new api.DocumentBuilder()
      .setOpenAPIVersion('3.0.3')
      .setTitle('Leaf')
      .setDescription(ABOUT.replaceAll('\n', ' '))
      .setVersion(serverVersion())
      .addServer(this.config.publicPath || '/', 'This server')
      .addSecurity('bearer', { type: 'http', scheme: 'bearer', description: 'A token of `LEAF_ADMIN_TOKEN`.' });
    for (const [name, description] of Object.entries(GROUPS)) builder.addTag(name, description);
    const options = { autoTagControllers: false, extraModels: [ProblemDocument] };
    const document = api.SwaggerModule.createDocument(this.application, builder.build(), options);
    describeProblems(document);
    return document;
  }
}
