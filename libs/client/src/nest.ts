export { LeafClientModule } from './client.module';
