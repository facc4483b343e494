import { Sequelize } from 'sequelize';
import { database } from './harness.js';

export const sequelize = new Sequelize(database.url, { logging: false });
