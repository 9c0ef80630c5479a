import { createHash } from 'node:crypto'
import type { Migration } from './migration.ts'

const sha256 = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')

/** Accepted releases keep their source, so that a change can be reviewed. Of earlier releases only the present one is known. */
export const releaseFiles: Migration = {
  version: 16,
  name: 'release-files',
  async up({ db, run }) {
    await run('alter table plugin_releases add column files text')
    const releases = await db
      .selectFrom('plugin_releases')
      .innerJoin('plugins', 'plugins.id', 'plugin_releases.plugin_id')
      .select(['plugin_releases.plugin_id', 'plugin_releases.digest', 'plugins.files_digest'])
      .select(['plugins.capabilities', 'plugins.config_schema', 'plugins.public_jobs', 'plugins.allowed_hosts'])
      .execute()
    for (const { plugin_id, digest, files_digest, ...plugin } of releases) {
      const { capabilities, config_schema, public_jobs, allowed_hosts } = plugin
      const parts = [capabilities, config_schema, public_jobs, allowed_hosts].map(json => JSON.parse(json))
      if (sha256([files_digest, ...parts]) !== digest) continue
      const files = await db.selectFrom('plugin_files').selectAll().where('plugin_id', '=', plugin_id).execute()
      const text = JSON.stringify(Object.fromEntries(files.map(file => [file.name, file.source])))
      await db
        .updateTable('plugin_releases')
        .set({ files: text })
        .where('plugin_id', '=', plugin_id)
        .where('digest', '=', digest)
        .execute()
    }
  },
}
