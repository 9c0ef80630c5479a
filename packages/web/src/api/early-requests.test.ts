import { routes, urlOf } from '@halyard/contract'
import { describe, expect, it } from 'vitest'
import { requestEarly } from './early-requests.ts'

const open = (pathname: string, search = '', key: string | undefined = 'phx_key') => {
  const sent: string[] = []
  const send = (async (url: string) => {
    sent.push(url)
    return new Response('{}')
  }) as typeof fetch
  return { sent, early: requestEarly(key, { pathname, search }, send) }
}

describe('requests before the app is loaded', () => {
  const session = [
    urlOf(routes.users.getMe.path),
    urlOf(routes.projects.list.path, {}, { limit: '1000' }),
    urlOf(routes.organizations.list.path, {}, { limit: '1000' }),
  ]

  it('are those that the page sends first', () => {
    const list = urlOf(routes.flagList.list.path, { project_id: '7' }, { limit: '100', offset: '0' })
    expect(open('/project/7/flags').sent).toEqual([...session, list])
    const flag = urlOf(routes.flags.get.path, { project_id: '7', id: '12' })
    expect(open('/project/7/flags/12', '?tab=code').sent).toEqual([...session, flag])
    expect(open('/project/7/flags/new').sent).toEqual(session)
    expect(open('/project/7/flags', '?state=deleted').sent).toEqual(session)
    expect(open('/organization/x/members').sent).toEqual(session)
  })

  it('are not sent without a session', () => {
    expect(
      requestEarly(undefined, { pathname: '/project/7/flags', search: '' }, fetch).take(session[0]!, undefined),
    ).toBe(undefined)
  })

  it('are used once, and only with the key that they were sent with', async () => {
    const { early } = open('/account')
    expect(early.take(session[0]!, 'phx_other')).toBeUndefined()
    expect((await early.take(session[0]!, 'phx_key'))?.status).toBe(200)
    expect(early.take(session[0]!, 'phx_key')).toBeUndefined()
  })
})
