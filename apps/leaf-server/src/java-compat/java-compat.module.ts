import { Inject, Injectable, Logger, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { EmbeddedIdService } from '@leaf-ids/id';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { MonitorModule } from '../monitor/monitor.module';
import { JavaController, JavaPagesController } from './java.controller';

/** Warns about tags for which the Java service issues the IDs of another tag, unless an operator has decided. */
@Injectable()
class DottedTags implements OnApplicationBootstrap {
  private readonly logger = new Logger('Tags');

  constructor(
    private readonly ids: EmbeddedIdService,
    @Inject(LEAF_CONFIG) private readonly config: LeafConfig,
  ) {}

  onApplicationBootstrap(): void {
    const tags = this.ids.segmentService?.generator;
    if (tags === undefined || this.config.http.javaPaths !== undefined) return;
    const pairs: string[] = [];
    tags.visit((tag) => {
      const served = tag.slice(0, Math.max(0, tag.lastIndexOf('.')));
      if (tags.revisionOf(served) !== undefined) pairs.push(`"${served}" for "${tag}"`);
    });
    if (pairs.length === 0) return;
    const [first] = pairs;
    this.logger.warn(
      `The Java service cuts a tag at its last dot: it would issue IDs of ${first}${pairs.length > 1 ? `, and of ${pairs.length - 1} more tags` : ''}, where this server issues those of the tag itself. Set LEAF_JAVA_PATHS=true to do as the Java service, or LEAF_JAVA_PATHS=false if no client comes from it.`,
    );
  }
}

/** Routes and pages of the Java service. */
@Module({ imports: [MonitorModule], controllers: [JavaController, JavaPagesController], providers: [DottedTags] })
export class JavaCompatModule {}
