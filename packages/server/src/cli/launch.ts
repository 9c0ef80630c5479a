#!/usr/bin/env node
import { loadProgram } from './load-program.ts'

loadProgram().run()
