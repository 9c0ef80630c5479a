import { writeFileSync } from 'node:fs'
import { type DevProject, readCohort, readFlag, writeDevFile } from '../../dev/dev-file.ts'
import { readAll, withApi } from '../remote/api.ts'
import { CommandError } from '../usage.ts'

export interface PullOptions {
  readonly from?: string
  readonly key?: string
  readonly project: string
  readonly out: string
}

/** `halyard dev pull` */
export const pull = ({ from, key, project, out }: PullOptions): Promise<void> =>
  withApi({ ...(from !== undefined && { url: from }), ...(key !== undefined && { key }) }, async (api, url) => {
    const base = `/api/projects/${encodeURIComponent(project)}`
    const remoteProject = await api('GET', `${base}/`)
    const flags = await readAll<Record<string, unknown>>(api, `${base}/feature_flags/?`)
    const cohorts = await readAll<Record<string, unknown>>(api, `${base}/cohorts/?`)
    const pulled: DevProject = {
      id: remoteProject.id,
      name: remoteProject.name,
      groupTypes: remoteProject.group_types ?? {},
      propertyMatchingVersion: remoteProject.property_matching_version === 1 ? 1 : 2,
      flags: flags.map(flag => readFlag(flag, remoteProject.id)),
      cohorts: cohorts.map(readCohort),
    }
    try {
      writeFileSync(out, writeDevFile(pulled))
    } catch (error) {
      throw new CommandError(`${out} cannot be written: ${(error as Error).message}.`)
    }
    const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`
    console.error(
      `Wrote ${count(flags.length, 'flag')} and ${count(cohorts.length, 'cohort')} of "${remoteProject.name}" at ${url} to ${out}.`,
    )
  })
