import { createRequire } from 'node:module'
import type pg from 'pg'

/** The driver of PostgreSQL, loaded when the first connection is made: who keeps everything in SQLite never reads it. */
export const loadPg = (): typeof pg => createRequire(import.meta.url)('pg')
