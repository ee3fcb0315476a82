//! What Canvas makes of a file, by the rules of its importer, `lib/gradebook_importer.rb` of canvas-lms.

use std::collections::BTreeMap;

use class::gradebook::{self, CanvasError, Gradebook, Sources};
use class::{
    Class, Course, Criterion, Exercise, Handin, Judge, Outcome, Plan, Policy, Roster, Secret, TaskSize,
};

/// The importer: what each student, by Canvas' id, gets in the file's only assignment.
struct Canvas {
    assignment: String,
    points: String,
    grades: BTreeMap<u64, String>,
}

impl Canvas {
    /// `header?`, `update_column_count`, `strip_non_assignment_columns`, `check_for_non_student_row`,
    /// `process_pp`, `process_student`, `process_submissions`.
    fn import(file: &str) -> Result<Canvas, String> {
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(file.as_bytes());
        let rows: Vec<Vec<String>> =
            reader.records().map(|row| row.expect("a row").iter().map(str::to_owned).collect()).collect();
        let header = &rows[0];
        if !(header.len() > 3 && header[0].contains("Student") && header[1].contains("ID")) {
            return Err("Invalid header row".into());
        }
        // Name, id and section; with SIS ids before the section there are two more.
        let mut columns = 3;
        if header[2].contains("SIS Login ID") {
            columns += 1;
        } else if header[2].contains("SIS User ID") && header[3].contains("SIS Login ID") {
            columns += 2;
        }
        if !header[columns - 1].contains("Section") {
            return Err("Invalid header row".into());
        }
        let not_assignments =
            ["Current Score", "Final Score", "Current Points", "Final Points", "Override Score"];
        let assignments: Vec<usize> = (columns..header.len())
            .filter(|index| !not_assignments.iter().any(|name| header[*index].contains(name)))
            .collect();
        let [assignment] = assignments[..] else { return Err(format!("{} assignments", assignments.len())) };
        let mut canvas =
            Canvas { assignment: header[assignment].clone(), points: String::new(), grades: BTreeMap::new() };
        for row in &rows[1..] {
            if row[0].contains("Points Possible") {
                canvas.points = row[assignment].clone();
                continue;
            }
            let id = row[1].parse().map_err(|_| format!("no student: {row:?}"))?;
            let grade = row[assignment].trim().to_owned();
            let is_number =
                grade.parse::<f64>().is_ok() && grade.split('.').nth(1).is_none_or(|d| d.len() <= 2);
            if !(is_number || grade.is_empty() || grade == "EX") {
                return Err(format!("no grade: {grade}"));
            }
            canvas.grades.insert(id, grade);
        }
        Ok(canvas)
    }
}

const EXPORT: &str = "Student,ID,SIS User ID,SIS Login ID,Section,Transpose (88001),Essay (88002),Final Score\r\n\
    \"    Points Possible\",,,,,10.00,5.00,(read only)\r\n\
    \"Simpson, Bart\",123,s1,bart,\"Sec, \"\"A\"\"\",,1,\r\n\
    \"=HYPERLINK(\"\"x\"\")\",124,s2,lisa,A,7,,\r\n\
    \"Excused, Ed\",125,s3,ed,A,EX,,\r\n\
    \"No-show, Nora\",126,s4,nora,A,,,\r\n\
    \"Open, Otto\",127,s5,otto,A,3.50,,\r\n";

/// Bart is right but slow, Lisa passed, Ed is excused, Nora is not there, Otto has no verdict, a stranger
/// passed.
fn with_gradebook(policy: &str, test: impl Fn(&Gradebook, &Roster)) {
    let folder = tempfile::tempdir().expect("a folder");
    let five =
        Exercise { number: 5, slug: "transpose".into(), title: "Transpose".into(), stub: String::new() };
    let (course, exercise) = (Course { exercises: vec![five.clone()] }, five.folder());
    let mut class = Class::default();
    for id in ["123", "124", "125", "127", "999"] {
        let person = class::Person { id: id.into(), name: id.into(), email: None };
        class.people.insert(id.into(), person);
        let sha256 = Some(Class::keep(folder.path(), id.as_bytes()).expect("kept"));
        let (source, student) = (String::new(), id.to_owned());
        let exercise = exercise.clone();
        let handin = Handin { student, exercise, sha256, source, is_late: false, at: None, problem: None };
        class.handins.insert((id.into(), handin.exercise.clone()), handin);
    }
    let judge =
        Judge { checker: "1".into(), compiler: "1".into(), engine: "sim".into(), limit: 1, memory: 1 };
    let secret = Secret::open(folder.path(), None).expect("made");
    let size = TaskSize { shards: Some(1), seconds: 1.0, most_shards: 1 };
    let plan = Plan::make(folder.path(), &class, &[], judge, &secret, size).expect("a plan");
    let keys = plan.keys();
    let mut outcomes = BTreeMap::new();
    for (id, verdict) in [("123", "too_slow"), ("124", "passed"), ("125", "passed"), ("999", "passed")] {
        let hash = class.handins[&(id.to_owned(), exercise.clone())].sha256.clone().expect("a hash");
        let key = keys[&(exercise.as_str(), hash.as_str())].to_owned();
        let criterion = |key: &str, met| Criterion { key: key.into(), met, yours: None };
        let outcome = Outcome {
            key: key.clone(),
            exercise: exercise.clone(),
            verdict: verdict.into(),
            criteria: vec![criterion("correct", true), criterion("stores", verdict == "passed")],
            message: None,
            gpu: None,
            attempt: 0,
            host: String::new(),
            seconds: 0.0,
        };
        outcomes.insert(key, outcome);
    }
    let policy = Policy::parse(policy, &course).expect("a policy");
    let roster = Roster::parse(EXPORT.as_bytes()).expect("a roster");
    let sources = Sources {
        class: &class,
        plan: &plan,
        outcomes: &outcomes,
        roster: Some(&roster),
        policy: &policy,
        only: &[],
    };
    test(&Gradebook::new(sources), &roster);
}

#[test]
fn canvas_takes_the_file_and_finds_everybody() {
    with_gradebook("[points]\n5 = 10\n", |gradebook, roster| {
        for title in ["Transpose", "Transpose (88001)"] {
            let file = gradebook::canvas(gradebook, Some(roster), title).expect("a file");
            let canvas = Canvas::import(&file).expect("accepted");
            assert_eq!((canvas.assignment.as_str(), canvas.points.as_str()), ("Transpose (88001)", "10.00"));
            let grades: Vec<(u64, &str)> =
                canvas.grades.iter().map(|(id, grade)| (*id, grade.as_str())).collect();
            assert_eq!(grades, [(123, "5.00"), (124, "10.00"), (125, "EX"), (126, "0.00"), (127, "3.50")]);
            // The columns that say who somebody is come back as they were.
            assert!(file.contains("\"Simpson, Bart\",123,s1,bart,\"Sec, \"\"A\"\"\",5.00\r\n"), "{file}");
        }
        let file = gradebook::canvas(gradebook, Some(roster), "Warplings 05").expect("a file");
        let canvas = Canvas::import(&file).expect("accepted");
        assert_eq!(canvas.assignment, "Warplings 05");
        assert_eq!(canvas.grades[&127], "");
    });
}

#[test]
fn what_canvas_would_take_amiss_is_refused() {
    with_gradebook("[points]\n5 = 20\n", |gradebook, roster| {
        let refused = gradebook::canvas(gradebook, Some(roster), "Transpose");
        assert!(matches!(refused, Err(CanvasError::Points { .. })), "{refused:?}");
        let refused = gradebook::canvas(gradebook, Some(roster), "Final Score");
        assert!(matches!(refused, Err(CanvasError::ReadOnly(_))), "{refused:?}");
        assert!(matches!(gradebook::canvas(gradebook, None, "Transpose"), Err(CanvasError::NoGradebook)));
    });
}

#[test]
fn the_other_files_hold_the_same_marks() {
    with_gradebook("[points]\n5 = 10\n", |gradebook, _| {
        let csv = gradebook::csv(gradebook);
        let mut lines = csv.lines();
        assert_eq!(
            lines.next(),
            Some(
                "student,name,exercise,verdict,points,raw_score,late_days,late_submission_penalty,score,correct,stores"
            )
        );
        assert_eq!(
            lines.next(),
            Some("123,\"Simpson, Bart\",05_transpose,too_slow,10.00,5.00,0,0.00,5.00,1,0")
        );
        assert!(csv.contains("124,\"'=HYPERLINK(\"\"x\"\")\",05_transpose,passed"), "{csv}");
        assert!(csv.contains("126,\"No-show, Nora\",05_transpose,missing,10.00,0.00,0,0.00,0.00,,"), "{csv}");
        assert!(csv.contains("127,\"Open, Otto\",05_transpose,not_judged,10.00,,0,0.00,,,"), "{csv}");
        assert!(csv.contains("\r\n999,999,05_transpose,passed"), "{csv}");
        assert_eq!(gradebook.holes().len(), 1);
        let junit = gradebook::junit(gradebook);
        assert!(
            junit.contains("tests=\"6\"")
                && junit.contains("failures=\"1\"")
                && junit.contains("errors=\"1\""),
            "{junit}"
        );
        assert!(junit.contains("<skipped") && junit.contains("not met: stores"), "{junit}");
        let json = gradebook::json(gradebook);
        assert_eq!(json["students"][0]["exercises"][0]["score"], 5.0);
        assert_eq!(json["students"][4]["score"], serde_json::Value::Null);
        // Canvas' export has no addresses.
        let (moodle, left_out) = gradebook::moodle(gradebook, "Warplings 05");
        assert_eq!(moodle, "Email address,Warplings 05,Warplings 05 feedback\r\n");
        assert_eq!(left_out.len(), 5);
    });
}
