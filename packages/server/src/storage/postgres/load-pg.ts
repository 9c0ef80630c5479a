import { createRequire } from 'node:module'
import type pg from 'pg'

/** The driver of PostgreSQL, loaded on first use: an installation on SQLite never loads it. */
export const loadPg = (): typeof pg => createRequire(import.meta.url)('pg')
