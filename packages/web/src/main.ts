import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './app/app.css'
import './app/fonts.css'
import { createSession } from './api/session.ts'
import { start } from './app/start.tsx'

start(createSession(sessionStorage))
