import { Module } from '@nestjs/common';
import { MonitorModule } from '../monitor/monitor.module';
import { JavaPagesController } from './java-pages.controller';
import { JavaController } from './java.controller';

/** Routes and pages of the Java service. */
@Module({ imports: [MonitorModule], controllers: [JavaController, JavaPagesController] })
export class JavaCompatModule {}
